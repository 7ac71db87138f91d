"""The whole chain, for commands and for Python: here names become components, through the plugin manager."""

from audioclass.engine.features import extract, extract_many, load_recipe, recipe_text, shipped_recipes, user_cache

__all__ = ["extract", "extract_many", "load_recipe", "recipe_text", "shipped_recipes", "user_cache"]
