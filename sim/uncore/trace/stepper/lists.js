// Shows two lists: the harts with their source lines, and the events of the chosen line in words.
const hartList = [];
function drawHarts() {
  const body = $('harts');
  for (const [hart, core] of D.harts) {
    const row = document.createElement('tr');
    const name = hart === core ? hart : `${hart} on core ${core}`;
    row.innerHTML = `<th scope="row">${name}</th><td></td>${'<td class="code"></td>'.repeat(2)}`;
    body.append(row);
    hartList.push([hart, row]);
  }
}
function showHarts(t) {
  for (const [hart, row] of hartList) {
    const { does, source } = hartAt(hart, t);
    row.className = does;
    row.children[1].textContent = does;
    row.children[2].textContent = source;
    row.children[3].textContent = D.sources[source] || '';
  }
}

const LOG_SENTENCES = 60; // number of sentences shown before the current one, and after it
const logs = new Map();
function eventsOf(line) {
  if (!logs.has(line)) logs.set(line, sentences(line));
  return logs.get(line);
}
function showLog(line, t, go, parts) {
  const log = eventsOf(line);
  const list = $('log');
  const here = notAfter(log, t, s => s[0]) - 1;
  const first = Math.max(0, here - LOG_SENTENCES);
  const items = log.slice(first, here + LOG_SENTENCES).map(([when, , say], i) => {
    const item = document.createElement('li');
    const n = first + i;
    item.innerHTML = `<time>${time(when)}</time><span>${say()}</span>`;
    item.className =
      (when === t || n === here ? 'now' : n > here ? 'later' : '') +
      (Math.abs(n - here) < 12 ? ' near' : '') +
      (parts.includes(n) ? ' parts' : '');
    if (n === here) item.setAttribute('aria-current', 'step');
    item.addEventListener('click', () => go(when));
    return item;
  });
  list.replaceChildren(...items);
  const present = list.querySelector('[aria-current]');
  const box = list.parentElement;
  if (present) box.scrollTop = present.offsetTop - list.offsetTop - box.clientHeight / 2;
  const sentencesNow = log.filter(s => s[0] === t).map(s => s[2]());
  $('sentence').innerHTML =
    sentencesNow[sentencesNow.length - 1] ||
    (here >= 0 ? log[here][2]() : 'Nothing has happened to this line yet.');
}
