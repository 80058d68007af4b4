// Returns a workload's program whose memory segments are decoded from base 64 to bytes.
function unpackedProgram(workload) {
  return {
    ...workload,
    segments: workload.segments.map(([address, letters]) => [address, bytesOf(letters)]),
  };
}
