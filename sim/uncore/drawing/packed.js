// Decodes values that standalone.py has encoded: base 64 of compressed JSON.
const bytesOf = letters => Uint8Array.from(atob(letters), c => c.charCodeAt(0));

function unpacked(letters) {
  const stream = new Blob([bytesOf(letters)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}
const unpackedValue = async letters =>
  JSON.parse(new TextDecoder().decode(await unpacked(letters)));
