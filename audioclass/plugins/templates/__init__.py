"""One working component for each contract: `audioclass plugins new` writes these modules under a new name."""
