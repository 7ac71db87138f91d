"""What every strategy is trained with: normalised features, pairwise statistics, machines, selection."""
