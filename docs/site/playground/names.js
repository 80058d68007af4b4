// Names memory addresses after a run, like uncore.program.names and .fields. A variable has its name
// in the debug information; allocated memory has the name of the pointer that points to it.
//
//   const names = namesOf(K, program, read, harts)
//   const fields = fieldsOf(K, program, read, names)
//   names.at(address)        "counter", "nodes+0x180", "stack of hart 3"
//   fields.at(address)       "queue->tail", "nodes[3].next"

const ENDLESS = Number.MAX_SAFE_INTEGER;
const hex = number => `0x${number.toString(16)}`;
const number64 = bytes => Number(new DataView(bytes.buffer).getBigUint64(0, true));

function symbolAt(program, address) {
  for (let at = notAfter(program.symbols, address, s => s[1]) - 1; at >= 0; at--) {
    const [name, start, size] = program.symbols[at];
    const offset = address - start;
    if (offset < Math.max(size, 1)) return name + (offset ? `+${hex(offset)}` : '');
  }
  return null;
}

function tableWords(K, read, address) {
  const names = K.fields.uc_table;
  const bytes = read(address, names.length * 8);
  return Object.fromEntries(
    names.map((name, i) => [name, number64(bytes.slice(i * 8, i * 8 + 8))]),
  );
}

function namesOf(K, program, read, harts) {
  const stacks = symbol(program, 'uc_stacks');
  const stride = K.constants.UC_STACK_STRIDE;
  const heap = stacks + harts * stride;
  const places = [];
  const pointed = new Map();
  for (let h = 0; h < harts; h++)
    places.push([stacks + h * stride, stacks + (h + 1) * stride, `stack of hart ${h}`]);
  const add = (at, name) => {
    if (!pointed.has(at)) pointed.set(at, name);
  };
  for (const [name, address, size] of program.symbols) {
    if (size !== 8 || name.startsWith('uc_')) continue;
    const value = number64(read(address, 8));
    if (value >= heap && value % K.constants.UC_BLOCK === 0) add(value, name);
  }
  for (const table of program.tables) {
    const { cells } = tableWords(K, read, table.address);
    if (cells) add(cells, `table ${table.name}`);
  }
  const pointers = [...pointed].sort((a, b) => a[0] - b[0]);
  for (const [i, [start, name]] of pointers.entries())
    places.push([start, i + 1 < pointers.length ? pointers[i + 1][0] : ENDLESS, name]);
  const at = address => {
    const n = notAfter(places, address, p => p[0]) - 1;
    if (n < 0 || address >= places[n][1]) return symbolAt(program, address) || hex(address);
    const [start, , name] = places[n];
    return name.startsWith('stack of') || address === start
      ? name
      : `${name}+${hex(address - start)}`;
  };
  return { at, heap };
}

// ---- Types (uncore.program.types). A path is [start, size, name] of the innermost member at an
// offset within a type.
function pathIn(program, kind, offset) {
  const type = program.types[kind];
  if (type.members) return pathInStruct(program, type, offset);
  if (type.element !== undefined) {
    const step = Math.max(program.types[type.element].size, 1);
    const index = Math.floor(offset / step);
    const [start, size, name] = pathIn(program, type.element, offset % step);
    return [index * program.types[type.element].size + start, size, `[${index}]${name}`];
  }
  return offset < type.size ? [0, type.size, ''] : [offset, 1, `+${hex(offset)}`];
}
function pathInStruct(program, type, offset) {
  for (const [start, name, kind] of type.members) {
    if (offset < start || offset >= start + program.types[kind].size) continue;
    const [inner, size, rest] = pathIn(program, kind, offset - start);
    return [start + inner, size, `${name && `.${name}`}${rest}`];
  }
  const ends = type.members.map(([start, , kind]) => start + program.types[kind].size);
  const begins = Math.max(0, ...ends.filter(end => end <= offset));
  const starts = type.members.map(([start]) => start).filter(start => start > offset);
  const end = starts.length ? Math.min(...starts) : Math.max(type.size, offset + 1);
  return [begins, end - begins, `+${hex(begins)}`];
}
function* pointersIn(program, kind) {
  const type = program.types[kind];
  if (type.target !== undefined) yield [0, '', type.target];
  for (const [start, name, of] of type.members || [])
    for (const [offset, inner, target] of pointersIn(program, of))
      yield [start + offset, `${name && `.${name}`}${inner}`, target];
  if (type.element === undefined) return;
  const step = Math.max(program.types[type.element].size, 1);
  for (let index = 0; index < Math.min(Math.floor(type.size / step), 4096); index++)
    for (const [offset, inner, target] of pointersIn(program, type.element))
      yield [index * step + offset, `[${index}]${inner}`, target];
}

// ---- Objects: [start, end, name, type, pointed]. `pointed` is true for allocated memory, which has
// the name of a pointer.
function elementName(program, object, index, inner) {
  const [, , name, kind] = object;
  if (index || !program.types[kind].size) return `${name}[${index}]${inner}`;
  if (inner.startsWith('.')) return `${name}->${inner.slice(1)}`;
  return inner ? `${name}${inner}` : `*${name}`;
}
function nameInside(program, object, address) {
  const [start, , name, kind, pointed] = object;
  const size = Math.max(program.types[kind].size, 1);
  if (!pointed) return name + pathIn(program, kind, address - start)[2];
  const offset = address - start;
  return elementName(
    program,
    object,
    Math.floor(offset / size),
    pathIn(program, kind, offset % size)[2],
  );
}
function* pointersOf(program, object) {
  const [start, end, name, kind, pointed] = object;
  const size = Math.max(program.types[kind].size, 1);
  const count = pointed ? Math.min(end < ENDLESS ? Math.floor((end - start) / size) : 1, 1024) : 1;
  for (let index = 0; index < count; index++)
    for (const [offset, inner, target] of pointersIn(program, kind))
      yield [
        start + index * size + offset,
        pointed ? elementName(program, object, index, inner) : name + inner,
        target,
      ];
}
function pointedBy(program, objects, read, heap) {
  const targets = new Map();
  for (const object of objects)
    for (const [address, name, target] of pointersOf(program, object)) {
      const value = number64(read(address, 8));
      if (value >= heap && !targets.has(value)) targets.set(value, [name, target]);
    }
  return targets;
}
function objectsOf(K, program, pointed) {
  const all = [...pointed].sort((a, b) => a[0] - b[0]);
  const blocks = all.map(([a]) => a).filter(a => a % K.constants.UC_BLOCK === 0);
  const ends = new Map(blocks.map((a, i) => [a, i + 1 < blocks.length ? blocks[i + 1] : ENDLESS]));
  return all.map(([start, [name, kind]]) => [
    start,
    ends.get(start) ?? start + Math.max(program.types[kind].size, 1),
    name,
    kind,
    true,
  ]);
}

function fieldsOf(K, program, read, names) {
  const own = v => Number(v[1].startsWith('uc_'));
  const variables = [...program.variables].sort((a, b) => own(a) - own(b));
  const size = kind => Math.max(program.types[kind].size, 1);
  const same = kind => program.types[kind].same;
  const variableObjects = variables.map(([a, name, kind]) => [
    a,
    a + program.types[kind].size,
    name,
    kind,
    false,
  ]);
  const direct = pointedBy(program, variableObjects, read, names.heap);
  const near = objectsOf(K, program, direct);
  const has = (o, a, kind) =>
    (a - o[0]) % size(o[3]) === 0 && o[0] <= a && a < o[1] && same(kind) === same(o[3]);
  const far = new Map(
    [...pointedBy(program, near, read, names.heap)].filter(
      ([a, to]) => !near.some(o => has(o, a, to[1])),
    ),
  );
  for (const [a, to] of direct) far.set(a, to);
  const objects = [
    ...new Map([...variableObjects, ...objectsOf(K, program, far)].map(o => [o[0], o])).values(),
  ].sort((a, b) => a[0] - b[0]);
  const at = address => {
    const first = notAfter(objects, address, o => o[0]) - 1;
    for (let n = first; n > Math.max(first - 16, -1); n--)
      if (address < objects[n][1]) return nameInside(program, objects[n], address);
    return names.at(address - (address % 8));
  };
  return { at };
}
