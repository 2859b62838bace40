"""The use cases that both front ends call. Nothing here prints, asks or draws."""
