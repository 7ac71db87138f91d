"""The components of a folder of Python files, read from their source without importing them.

The manifest of the built-ins is made this way, so that building the package needs none of its dependencies and a new
file in a checkout is simply there. What is read is what `describe` tells of the imported class: the hooks marked with
`@hookimpl`, the classes they return, their docstrings, names and parameters. Defaults and ranges must be constants, or
names of constants of the same package; anything else is an error that names the line.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audioclass.errors import PluginError
from audioclass.hookspecs import KINDS
from audioclass.parameters import SCALARS, Parameter, parameter, parameter_of
from audioclass.plugins.manifests import Entry

Scope = Mapping[str, Any]
OPAQUE = object()  # a value of a table of which only the keys are asked for
OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
BUILTIN_CALLS: Mapping[str, Callable[..., Any]] = {"tuple": tuple, "list": list, "sorted": sorted, "float": float}


def read_components(root: Path, distribution: str, version: str) -> list[Entry]:
    """The entries of every file below a package's folder that has a hook, by module and in the order of the hooks."""
    package = _Package(root)
    paths = [path for path in sorted(root.rglob("*.py")) if "templates" not in path.parts]
    modules = [package.module_of(path) for path in paths if "@hookimpl" in path.read_text(encoding="utf-8")]
    return [
        _Class(package, module, node).entry(kind, distribution, version, listed_by.name)
        for listed_by in modules
        for kind, module, node in _hooked_classes(package, listed_by)
    ]


@dataclass
class _Module:
    """A parsed file: its constants, classes and functions by name, and what its imports bring in."""

    name: str
    path: Path
    constants: dict[str, ast.expr] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)

    def take(self, node: ast.stmt) -> None:
        """Remember what a statement at the top of the file defines."""
        if isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
        elif isinstance(node, ast.FunctionDef):
            self.functions[node.name] = node
        elif isinstance(node, ast.Import):
            self.imports |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            self.imports |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif (target := _target(node)) is not None:
            name, value = target
            self.constants[name] = value

    def unreadable(self, node: ast.AST, what: str) -> PluginError:
        """The error for something that only running the file could tell."""
        line = getattr(node, "lineno", 0)
        return PluginError(f"{self.path}, line {line}: {what} cannot be read without importing it; write a constant")


class _Package:
    """The files of one package, each parsed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._modules: dict[str, _Module | None] = {}

    def module_of(self, path: Path) -> _Module:
        """The module of a file below the root."""
        parts = [self._root.name, *path.relative_to(self._root).with_suffix("").parts]
        module = self.module(".".join(parts))
        if module is None:
            raise PluginError(f"{path}: is no module of {self._root.name}")
        return module

    def module(self, name: str) -> _Module | None:
        """The module of a dotted name, None where it is none of this package."""
        if name not in self._modules:
            self._modules[name] = self._parse(name)
        return self._modules[name]

    def _parse(self, name: str) -> _Module | None:
        first, *rest = name.split(".")
        bare = self._root.joinpath(*rest)
        path = bare / "__init__.py" if bare.is_dir() else bare.with_suffix(".py")
        if first != self._root.name or not path.is_file():
            return None
        module = _Module(name, path)
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        except SyntaxError as error:
            raise PluginError(f"{path}, line {error.lineno}: {error.msg}") from error
        for node in tree.body:
            module.take(node)
        return module

    def locate(self, dotted: str) -> tuple[_Module, str] | None:
        """The module in which an imported name is defined, and its name there."""
        home, _, name = dotted.rpartition(".")
        module = self.module(home) if home else None
        if module is None:
            return None
        return self.locate(module.imports[name]) if name in module.imports else (module, name)

    def define(self, module: _Module, node: ast.expr) -> tuple[_Module, str] | None:
        """Where a name or an attribute of an imported module is defined, None where that is outside the package."""
        if isinstance(node, ast.Name):
            return self.locate(module.imports[node.id]) if node.id in module.imports else (module, node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self.locate(f"{module.imports.get(node.value.id, '')}.{node.attr}")
        return None

    # --- values

    def value(self, module: _Module, node: ast.expr, scope: Scope) -> Any:
        """What an expression of constants is worth."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Tuple() | ast.List():
                return tuple(self._items(module, node.elts, scope))
            case ast.Dict() | ast.DictComp():
                return dict(self._pairs(module, node, scope))
            case ast.UnaryOp(op=ast.USub()):
                return -self.value(module, node.operand, scope)
            case ast.BinOp() if type(node.op) in OPERATORS:
                sides = (self.value(module, side, scope) for side in (node.left, node.right))
                return OPERATORS[type(node.op)](*sides)
            case ast.Name() if node.id in scope:
                return scope[node.id]
            case ast.Name() | ast.Attribute():
                return self._named(module, node)
            case ast.Call():
                return self._called(module, node, scope)
        raise module.unreadable(node, ast.unparse(node))

    def _items(self, module: _Module, nodes: Sequence[ast.expr], scope: Scope) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.value(module, node.value, scope)
            else:
                yield self.value(module, node, scope)

    def _pairs(self, module: _Module, node: ast.Dict | ast.DictComp, scope: Scope) -> Iterator[tuple[Any, Any]]:
        """The pairs of a table; a value that only running the file could tell is opaque, its key is not."""
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None:
                    yield from self.value(module, value, scope).items()
                else:
                    yield self.value(module, key, scope), self._value_or_opaque(module, value, scope)
            return
        [loop] = node.generators
        if not isinstance(loop.target, ast.Name) or loop.ifs:
            raise module.unreadable(node, ast.unparse(node))
        for item in self.value(module, loop.iter, scope):
            inner = {**scope, loop.target.id: item}
            yield self.value(module, node.key, inner), self._value_or_opaque(module, node.value, inner)

    def _value_or_opaque(self, module: _Module, node: ast.expr, scope: Scope) -> Any:
        try:
            return self.value(module, node, scope)
        except PluginError:
            return OPAQUE

    def _named(self, module: _Module, node: ast.expr) -> Any:
        place = self.define(module, node)
        if place is None or place[1] not in place[0].constants:
            raise module.unreadable(node, ast.unparse(node))
        return self.value(place[0], place[0].constants[place[1]], {})

    def _called(self, module: _Module, node: ast.Call, scope: Scope) -> Any:
        """`parameter(…)`, a few calls of Python's own, and functions of the package that only return a value."""
        if isinstance(node.func, ast.Name) and node.func.id in BUILTIN_CALLS and not node.keywords:
            return BUILTIN_CALLS[node.func.id](*self._items(module, node.args, scope))
        if isinstance(node.func, ast.Name) and module.imports.get(node.func.id, "").endswith(".parameter"):
            stated = {word.arg: self.value(module, word.value, scope) for word in node.keywords if word.arg}
            return parameter(*self._items(module, node.args, scope), **stated)
        place = self.define(module, node.func)
        function = place and place[0].functions.get(place[1])
        if place and function and not node.args and not node.keywords and isinstance(function.body[-1], ast.Return):
            returned = function.body[-1].value
            if returned is not None:
                return self.value(place[0], returned, {})
        raise module.unreadable(node, ast.unparse(node))


@dataclass(frozen=True)
class _Class:
    """A class as its source states it, with the classes of the package that it extends."""

    package: _Package
    module: _Module
    node: ast.ClassDef

    def entry(self, kind: str, distribution: str, version: str, module: str) -> Entry:
        """What `describe` tells of the imported class."""
        facts = {name: self._attribute(name) for name in KINDS[kind].facts if self._states(name)}
        parameters = tuple(self._parameters())
        return Entry(kind, self._attribute("name"), self._summary(), parameters, module, distribution, version, facts)

    def _lineage(self) -> Iterator[_Class]:
        """The class itself, then what it extends, nearest first."""
        yield self
        for base in self.node.bases:
            place = self.package.define(self.module, base)
            if place is not None and place[1] in place[0].classes:
                yield from _Class(self.package, place[0], place[0].classes[place[1]])._lineage()

    def _summary(self) -> str:
        docs = (ast.get_docstring(one.node, clean=False) for one in self._lineage())
        return inspect.cleandoc(next((doc for doc in docs if doc is not None), "")).split("\n")[0]

    def _assigned(self) -> Iterator[tuple[str, ast.expr]]:
        for statement in self.node.body:
            target = _target(statement)
            if target is not None:
                yield target

    def _states(self, name: str) -> bool:
        return any(name in dict(one._assigned()) for one in self._lineage())

    def _attribute(self, name: str) -> Any:
        for one in self._lineage():
            values = dict(one._assigned())
            if name in values:
                return self.package.value(one.module, values[name], {})
        raise self.module.unreadable(self.node, f"the {name} of {self.node.name}")

    def _parameters(self) -> Iterator[Parameter]:
        """The fields of the dataclass, those of what it extends first."""
        fields: dict[str, tuple[_Module, ast.AnnAssign]] = {}
        for one in reversed(list(self._lineage())):
            if one.node.decorator_list:  # only a class that is made a dataclass turns annotations into fields
                items = (item for item in one.node.body if isinstance(item, ast.AnnAssign))
                fields |= {item.target.id: (one.module, item) for item in items if isinstance(item.target, ast.Name)}
        for name, (module, item) in fields.items():
            if "ClassVar" not in ast.unparse(item.annotation) and not _is_no_argument(item.value):
                stated = dataclasses.MISSING if item.value is None else self.package.value(module, item.value, {})
                if not isinstance(stated, dataclasses.Field):
                    stated = parameter(stated)
                stated.name = name
                yield parameter_of(stated, _hint(module, item.annotation))


def _hooked_classes(package: _Package, module: _Module) -> Iterator[tuple[str, _Module, ast.ClassDef]]:
    """The kind of each hook of a module, with the classes that it returns and where they are defined."""
    kinds = {kind.hook: kind.name for kind in KINDS.values()}
    for function in module.functions.values():
        if not any(ast.unparse(mark).startswith("hookimpl") for mark in function.decorator_list):
            continue
        last = function.body[-1]
        if function.name not in kinds or not isinstance(last, ast.Return) or not isinstance(last.value, ast.List):
            raise module.unreadable(function, f"what {function.name} returns")
        for node in last.value.elts:
            place = package.define(module, node)
            if place is None or place[1] not in place[0].classes:
                raise module.unreadable(node, f"the class {ast.unparse(node)}")
            yield kinds[function.name], place[0], place[0].classes[place[1]]


def _target(node: ast.stmt) -> tuple[str, ast.expr] | None:
    """The name and the expression of a plain assignment."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None


def _is_no_argument(node: ast.expr | None) -> bool:
    """`field(…, init=False)`: a field that nobody sets is no parameter."""
    words = node.keywords if isinstance(node, ast.Call) else []
    return any(word.arg == "init" and ast.unparse(word.value) == "False" for word in words)


def _hint(module: _Module, node: ast.expr) -> Any:
    """The type that an annotation names: a scalar, a tuple of one, or either of them and None."""
    match node:
        case ast.Name() if node.id in SCALARS:
            return SCALARS[node.id]
        case ast.Name() if node.id in module.constants:
            return _hint(module, module.constants[node.id])
        case ast.Constant(value=None):
            return None
        case ast.Subscript(value=ast.Name(id="Literal")):
            return str
        case ast.BinOp(op=ast.BitOr()):
            return _hint(module, node.left) | _hint(module, node.right)
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[item, ast.Constant(value=_)])):
            return tuple[_hint(module, item), ...]  # type: ignore[misc]  # the item's type is known when it runs
    raise module.unreadable(node, f"the type {ast.unparse(node)}")
