"""What each command does when it runs, imported then: help needs neither numpy nor the engine."""
