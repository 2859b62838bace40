"""locklens: review and judge Terraform and OpenTofu dependency lock files."""

__version__ = "0.1.0"
