// The editor of workloads that are written in the page. It shows line numbers and marks errors.
//
//   mark(message)     marks the line of a message such as "line 3: ...", shows the message below, and
//                     puts the cursor there; returns the line number, or 0 if there is none
//   showText(text)    replaces the text

const editor = $('text');
function numberLines() {
  const count = editor.value.split('\n').length;
  $('line-numbers').textContent = Array.from({ length: count }, (_, n) => n + 1).join('\n');
  $('line-numbers').scrollTop = editor.scrollTop;
}
function mark(message = '') {
  const line = Number(/^line (\d+):/.exec(message)?.[1] ?? 0);
  editor.setAttribute('aria-invalid', String(line > 0));
  $('text-wrong').textContent = line ? message : '';
  if (!line) return 0;
  const before = editor.value.split('\n').slice(0, line - 1);
  const begin = before.join('\n').length + (line > 1);
  editor.style.setProperty('--line', line - 1);
  editor.setSelectionRange(begin, begin);
  editor.focus();
  return line;
}
function showText(text) {
  editor.value = text;
  mark();
  numberLines();
}
editor.addEventListener('input', () => {
  mark();
  numberLines();
});
editor.addEventListener('scroll', numberLines);
