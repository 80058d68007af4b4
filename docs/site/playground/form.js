// The form: converts its fields to a job, and draws inputs for a machine and a workload.
//
//   jobOfForm()                       returns the job, in the format of job.js; throws an error if a
//                                     field is invalid
//   otherJob(job)                     returns the same job with the second workload; undefined if
//                                     none is chosen
//   commandOf(verb, jobs, threads)    returns the shell command for jobs that differ only in their
//                                     workload
//   stateOf(), restore(state)         get and set all choices, as parameters of the page's address
//   drawNumbers(), drawParameters()   draw inputs for the chosen machine and workload

const $ = id => document.getElementById(id);
const D = JSON.parse($('data').textContent);
const NANO = { ps: 0.001, ns: 1, us: 1e3, ms: 1e6, s: 1e9 };
const BOOL = { true: 1, yes: 1, on: 1, false: 0, no: 0, off: 0 };
const WRITTEN = 'written'; // name of the workload that is written in the page
let machine;
let program;
let other; // program of the second workload

// Parses thread counts such as "1,2..8", like uncore.job.placement.thread_counts.
function threadCounts(text, harts) {
  const counts = [];
  const number = word => {
    const n = word === 'max' ? harts : Number(word);
    if (!Number.isInteger(n) || n < 1)
      throw new Error(
        `threads ${text}: '${word}' is not a number of threads; write 1,2,4..${harts}`,
      );
    return n;
  };
  for (const item of text.split(',')) {
    const [first, last] = item.trim().split('..');
    const high = number(last === undefined ? first : last);
    for (let low = number(first); low < high; low *= 2) counts.push(low);
    counts.push(high);
  }
  const most = Math.max(...counts);
  if (most > harts)
    throw new Error(`threads ${most}: this machine has room for ${harts}; write at most ${harts}`);
  return [...new Set(counts)];
}

// Returns the number and the canonical text of a parameter's value, like uncore.program.parameter.
function parameterOf(p, written) {
  const wrong = expected => new Error(`parameter ${p.name}=${written}: expected ${expected}`);
  if (p.type === 'choice') {
    const n = p.unit.split('|').indexOf(written);
    if (n < 0) throw wrong(`one of ${p.unit.split('|').join(', ')}`);
    return [n, written];
  }
  if (p.type === 'bool') {
    if (!(written in BOOL)) throw wrong('true or false');
    return [BOOL[written], BOOL[written] ? 'true' : 'false'];
  }
  if (p.type === 'duration') {
    const match = /^([0-9]+(?:\.[0-9]+)?) ?(ps|ns|us|ms|s)$/.exec(
      written === '0' ? '0ns' : written,
    );
    const n = match && Number((Number(match[1]) * NANO[match[2]]).toFixed(6));
    if (!match || !Number.isSafeInteger(n))
      throw wrong('a time in whole nanoseconds with its unit, such as 50ns or 1.5us');
    return [n, `${n}ns`];
  }
  const n = /^[+-]?[0-9]+$/.test(written) ? Number(written) : NaN;
  if (!Number.isSafeInteger(n) || (p.type === 'u64' && n < 0))
    throw wrong(`a whole number${p.unit ? ` of ${p.unit}` : ''}, such as 100`);
  return [n, String(n)];
}

function jobOfForm() {
  const parameters = [];
  for (const input of $('parameters').querySelectorAll('[name]')) {
    const p = program.params.find(param => param.name === input.name);
    const written = input.value.trim();
    if (written !== p.default) parameters.push([p.name, ...parameterOf(p, written)]);
  }
  const options = Object.fromEntries(
    [...document.querySelectorAll('[data-option]')].map(input => [
      input.dataset.option,
      input.value,
    ]),
  );
  return {
    machine,
    program,
    parameters,
    ...options,
    threads: threadCounts($('threads').value, machine.harts[options.placement].length),
    seeds: $('seeds').value ? $('seeds').value.split(',').map(Number) : [],
  };
}

function otherJob(job) {
  if (!other) return undefined;
  const has = ([name]) => other.params.some(param => param.name === name);
  return { ...job, program: other, parameters: job.parameters.filter(has) };
}

// Returns the flag and the value of each option whose value is not the default of uncore.job.
function nonDefaultOptions(job) {
  const chosen = Object.entries(D.shared.options).filter(
    ([name, option]) => option.word && name in job && job[name] !== option.usual,
  );
  return chosen.map(([name, { flag }]) => [flag, job[name]]);
}

// Returns the shell command for these jobs. A command cannot express edited numbers and a workload
// that is written in the page, so a remark in parentheses mentions them.
function commandOf(verb, jobs, threads) {
  const { parameters, seeds } = D.shared.options;
  const [job] = jobs;
  const first = job.seeds[0];
  const names = jobs.map(job => job.program.name);
  const words = ['uncore', verb, machine.id, ...names, '--threads', threads];
  for (const [name, , text] of job.parameters) words.push(parameters.flag, `${name}=${text}`);
  words.push(...nonDefaultOptions(job).flat());
  if (verb === 'run')
    words.push(
      seeds.flag,
      ...(job.seeds.length ? [first, '--repeat', job.seeds.length] : ['none']),
    );
  const remarks = [
    numbersEdited() && 'with numbers edited here',
    names.includes(WRITTEN) && 'the workload is written here',
  ].filter(Boolean);
  return words.join(' ') + (remarks.length ? `  (${remarks.join('; ')})` : '');
}

// ---- Numbers of the machine. Each input sets one number in all parts of its group.
function groupsOf(resolved) {
  const groups = [['core', [resolved.core], 'Core']];
  for (const kind of resolved.kinds) groups.push([`cores ${kind.name}`, [kind.core], 'Core']);
  const groupedBy = (rows, key) =>
    [...new Set(rows.map(row => row[key]))].map(value => [
      value,
      rows.filter(row => row[key] === value),
    ]);
  for (const [level, rows] of groupedBy(resolved.resolvers, 'level'))
    groups.push([`resolver of each ${level}`, rows, 'Resolver']);
  for (const [level, links] of groupedBy(resolved.links, 'level'))
    for (const [ps, rows] of groupedBy(links, 'data'))
      groups.push([`links of ${level} that take ${ps / 1000} ns`, rows, 'Link']);
  groups.push(
    ['memory', resolved.memories, 'Memory'],
    ['interrupts', [resolved.interrupt], 'Interrupt'],
  );
  return groups;
}
const shippedNumber = value => value / 1000;
function drawNumbers() {
  $('numbers').replaceChildren();
  for (const [head, rows, kind] of groupsOf(machine.resolved)) {
    const title = document.createElement('h3');
    title.textContent = head;
    $('numbers').append(title);
    for (const [name, about, low, high] of D.numbers[kind]) {
      const label = document.createElement('label');
      const input = document.createElement('input');
      const caption = document.createElement('span');
      caption.textContent = about;
      Object.assign(input, {
        type: 'number',
        step: 'any',
        min: low / 1000,
        max: high / 1000,
        value: shippedNumber(rows[0][name]),
      });
      input.addEventListener('change', () => {
        const ps = Math.round(Number(input.value) * 1000);
        if (!input.value || ps < low || ps > high) {
          input.value = shippedNumber(rows[0][name]);
          return showState(`${about}: expected ${low / 1000} to ${high / 1000} ns`, true);
        }
        for (const row of rows) row[name] = ps;
        caption.className = 'changed';
        edits.set(`${head}/${name}`, input.value);
        saveState();
      });
      input.dataset.number = `${head}/${name}`;
      label.append(caption, input);
      $('numbers').append(label);
    }
  }
}
const edits = new Map(); // maps "group/name" of each number that the user edited to its ns
const numbersEdited = () => edits.size > 0;

// ---- the form's state in the page's address
const stateInputs = () =>
  [...document.querySelectorAll('[data-state]')].filter(input => !input.closest('[hidden]'));
function stateOf() {
  const state = new URLSearchParams(stateInputs().map(input => [input.dataset.state, input.value]));
  for (const input of $('parameters').querySelectorAll('[name]')) {
    const p = program.params.find(param => param.name === input.name);
    if (input.value.trim() !== p.default) state.set(`set.${input.name}`, input.value.trim());
  }
  for (const [number, ns] of edits) state.set(`number.${number}`, ns);
  return state;
}
// Each run has an entry of its own in the browser's history, so that Back returns to the choices of
// the run before. What is edited after a run makes a new entry, which further edits change.
const entry = { hasRun: false, restoring: false };
function saveState() {
  if (entry.restoring) return;
  const address = `#${stateOf()}`;
  if (!entry.hasRun) history.replaceState(null, '', address);
  else if (address !== location.hash) {
    history.pushState(null, '', address);
    entry.hasRun = false;
  }
  $('link').href = address;
}
// Sets the fields that the state contains. The machine and the workload must be chosen before.
function restore(state) {
  for (const input of stateInputs())
    if (state.has(input.dataset.state)) input.value = state.get(input.dataset.state);
  for (const input of $('parameters').querySelectorAll('[name]'))
    if (state.has(`set.${input.name}`)) input.value = state.get(`set.${input.name}`);
  for (const input of $('numbers').querySelectorAll('[data-number]')) {
    const ns = state.get(`number.${input.dataset.number}`);
    if (ns === null) continue;
    input.value = ns;
    input.dispatchEvent(new Event('change'));
  }
}

function drawParameters() {
  $('parameters').replaceChildren();
  for (const p of program.params) {
    const label = document.createElement('label');
    const caption = document.createElement('span');
    const choices =
      p.type === 'choice' ? p.unit.split('|') : p.type === 'bool' ? ['true', 'false'] : null;
    const input = document.createElement(choices ? 'select' : 'input');
    if (choices) for (const choice of choices) input.append(new Option(choice));
    input.name = p.name;
    input.value = p.default;
    caption.textContent = `${p.name}: ${p.help}`;
    label.append(caption, input);
    $('parameters').append(label);
  }
}
