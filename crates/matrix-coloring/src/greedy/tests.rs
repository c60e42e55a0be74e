//! Facts about greedy.
