"""Files of exported programs: zip archives with the graph as JSON and the tensors as bytes."""
