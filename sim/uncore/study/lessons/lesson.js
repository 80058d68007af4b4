// The script of a lesson's page: it compares predictions with the answers, opens steppers, and shows
// the page as slides.
const $ = id => document.getElementById(id);
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

// ---- Slides. A slide has at most one heading, prediction, stepper, exercise, picture or output.
const needsOwnSlide = node => node.matches('.predict, .watch, .exercise, figure, pre');
const slides = [];
function splitIntoSlides() {
  const main = document.querySelector('main');
  for (const node of [...main.children]) {
    const last = slides.at(-1)?.lastChild;
    const continues = last && (last.matches('h2') || !(needsOwnSlide(node) || needsOwnSlide(last)));
    if (node.matches('h2') || !continues) {
      slides.push(document.createElement('div'));
      slides.at(-1).className = 'slide';
      main.append(slides.at(-1));
    }
    slides.at(-1).append(node);
  }
}
let current = -1; // index of the slide that is shown; -1: the whole page is shown
function show(n) {
  current = Math.min(n, slides.length - 1);
  document.documentElement.classList.toggle('slides', current >= 0);
  for (const [i, slide] of slides.entries()) slide.classList.toggle('shown', i === current);
  $('slides').textContent = current < 0 ? 'slides' : 'all';
  $('number').hidden = current < 0;
  $('number').textContent = `${current + 1} of ${slides.length}`;
  history.replaceState(null, '', current < 0 ? '#' : `#slide=${current + 1}`);
  if (current >= 0) fit(slides[current]);
}
const fits = node =>
  node.scrollHeight <= node.clientHeight + 1 && node.scrollWidth <= node.clientWidth + 1;
// Sets the largest font size at which the slide fits. If the slide does not fit at normal size, its
// paragraphs are cut to their first sentences.
function fit(slide) {
  slide.classList.add('whole');
  for (let share = 160; share >= 30; share -= 5) {
    if (share < 100) slide.classList.remove('whole');
    slide.style.setProperty('--share', share / 100);
    if ([slide, ...slide.querySelectorAll('pre')].every(fits)) break;
  }
}
const toggleSlides = () => show(current < 0 ? 0 : -1);
const KEYS = {
  p: toggleSlides,
  Escape: () => show(-1),
  ArrowRight: () => show(current + 1),
  PageDown: () => show(current + 1),
  ArrowLeft: () => show(Math.max(0, current - 1)),
  PageUp: () => show(Math.max(0, current - 1)),
  Home: () => show(0),
  End: () => show(slides.length - 1),
};
if ($('slides')) {
  splitIntoSlides();
  $('slides').addEventListener('click', toggleSlides);
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input')) return;
    if (!KEYS[event.key] || (current < 0 && event.key !== 'p')) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  addEventListener('resize', () => current >= 0 && fit(slides[current]));
  show(Number(new URLSearchParams(location.hash.slice(1)).get('slide') ?? 0) - 1);
}
