"""scikit-learn's contract of an estimator, without the import of scikit-learn.

The import takes most of a second. ``clone``, ``Pipeline``, ``GridSearchCV`` and the estimator
checks need the methods below, not a common base class.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Estimator:
    """Parameters of the constructor, to get, set, clone and show."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of the constructor's parameters, sorted."""
        return sorted(set(inspect.signature(cls.__init__).parameters) - {"self"})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Values of the parameters; with ``deep``, also those of estimators among them."""
        parameters: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                inner = value.get_params().items()
                parameters.update({f"{name}__{key}": each for key, each in inner})
            parameters[name] = value
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``name__inner`` is a parameter of the estimator ``name``."""
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in self._get_param_names():
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. "
                    f"Valid parameters are: {self._get_param_names()!r}."
                )
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The constructor's call, without parameters that have their default."""
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        """The box that notebooks show."""
        from sklearn.utils import estimator_html_repr

        return str(estimator_html_repr(self))

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True),
        )

    def get_metadata_routing(self) -> Any:
        """What scikit-learn may pass on to ``fit``: nothing beside the rows."""
        from sklearn.utils.metadata_routing import MetadataRequest

        return MetadataRequest(owner=self)


def require_fitted(estimator: Any) -> None:
    """Raise scikit-learn's ``NotFittedError`` for an estimator that was not fitted."""
    if not estimator.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )
