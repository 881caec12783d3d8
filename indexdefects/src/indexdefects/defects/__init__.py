"""What can be wrong in an index: one function a family, which makes the defect and states its subjects."""
