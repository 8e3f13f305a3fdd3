"""The share of the last mean that ranks without inputs do not give."""

from __future__ import annotations

import taeda
from taeda.nn.parallel._late import Late


def test_what_a_gradient_began_with_is_given_for_those_that_lack_it():
    a, b, c = (taeda.ones(2, requires_grad=True) for _ in range(3))
    touched: set[int] = set()
    late = Late([a, b, c], touched)
    late.tell(1, joins=True)
    a.grad, b.grad = taeda.full((2,), 3.0), taeda.zeros(2)
    (a + b + c).sum().backward()
    touched.update(range(3))
    views = [param.grad.clone() for param in (a, b, c)]
    for number, view in enumerate(views):
        late.add_share(number, view, 3)
    assert [view[0].item() for view in views] == [4.0 + 3.0 / 2, 1.0, 1.0]
    assert late.is_unclear()
    touched.clear()
    late.forget()
    assert not late.is_unclear()
    late.add_share(0, views[1], 3)  # a gets no gradient this time
    assert views[1][0].item() == 1.0 + 4.0 / 2
    late.tell(0, joins=False)
    (a * 2).sum().backward()
    assert not late.bases


def test_gradients_that_were_cleared_before_their_mean_are_seen():
    a = taeda.ones(1, requires_grad=True)
    touched: set[int] = set()
    late = Late([a], touched)
    late.tell(0, joins=True)
    a.sum().backward()
    touched.add(0)
    late.look(0)
    assert not late.is_unclear()
    a.grad = None
    late.look(0)
    assert late.is_unclear()
    a.sum().backward()
    assert late.is_unclear()
    late.close()
