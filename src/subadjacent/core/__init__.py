"""The paper's maths: pure functions on tensors, without state, files or a chosen device."""
