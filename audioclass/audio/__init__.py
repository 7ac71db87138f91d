"""Path or pipe → blocks of samples: `decode.py` opens anything, `blocks.py` brings it to one rate and channel."""
