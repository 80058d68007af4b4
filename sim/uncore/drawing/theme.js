// Dark or light, by the button #theme; first as the reader's system is.
const isDark = () => document.documentElement.classList.contains('dark');
function theme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  document.documentElement.classList.toggle('light', !dark);
  document.getElementById('theme').textContent = dark ? 'light' : 'dark';
}
document.getElementById('theme').addEventListener('click', () => theme(!isDark()));
theme(matchMedia('(prefers-color-scheme: dark)').matches);
