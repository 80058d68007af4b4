// Switches between dark and light by the button #theme, beginning with the reader's system setting.
const isDark = () => document.documentElement.classList.contains('dark');
function theme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  document.documentElement.classList.toggle('light', !dark);
  document.getElementById('theme').textContent = dark ? 'light' : 'dark';
}
document.getElementById('theme').addEventListener('click', () => theme(!isDark()));
theme(matchMedia('(prefers-color-scheme: dark)').matches);
