// A lesson's forms compare a prediction with the answer; its buttons unpack a stepper.
for (const form of document.querySelectorAll('.predict'))
  form.addEventListener('submit', event => {
    event.preventDefault();
    const verdict = form.querySelector('[role=status]');
    const input = form.querySelector('input');
    const value = Number(input.value.replace(',', '.'));
    const answer = Number(form.dataset.answer);
    if (!input.value.trim() || !Number.isFinite(value)) {
      verdict.textContent = 'Write a number, such as 12 or 0.5.';
      verdict.className = 'far';
      return;
    }
    const ratio = value > 0 ? Math.max(value / answer, answer / value) : Infinity;
    const near = ratio <= Number(form.dataset.within);
    verdict.className = near ? 'near' : 'far';
    verdict.textContent = near
      ? 'Near enough.'
      : Number.isFinite(ratio)
        ? `${ratio.toPrecision(2)} times too ${value > answer ? 'high' : 'low'}.`
        : 'Far from it.';
    form.querySelector('.after').hidden = false;
  });
for (const part of document.querySelectorAll('.watch'))
  part.querySelector('button').addEventListener('click', async () => {
    if (part.querySelector('iframe')) return;
    const url = URL.createObjectURL(
      new Blob([await unpackedValue(part.dataset.page)], { type: 'text/html' }),
    );
    const frame = document.createElement('iframe');
    const alone = part.querySelector('a');
    frame.title = 'stepper';
    frame.src = alone.href = url + part.dataset.place;
    alone.hidden = false;
    part.append(frame);
  });
