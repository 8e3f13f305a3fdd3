"""The names that users call: backends, modules behind `compile`, explanations."""
