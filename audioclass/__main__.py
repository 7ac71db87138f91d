"""`python -m audioclass`."""

from audioclass.cli import main

if __name__ == "__main__":
    main()
