// Replaces the page's content by a newer one each 5 s: not while somebody fills in a form, and not in a hidden tab. Without this
// script the page works as well, and shows what was there when it was loaded.
'use strict';

const every = 5000;

function busy(main) {
  const focus = document.activeElement;
  return main.contains(focus) && focus.matches('input, select, button, textarea')
    || [...main.querySelectorAll('input, select')].some(field => field.type !== 'hidden' && changed(field));
}

function changed(field) {
  if (field.tagName !== 'SELECT') return field.value !== field.defaultValue;
  return [...field.options].some((option, i) => option.selected !== (option.defaultSelected || (i === 0 && !field.querySelector('[selected]'))));
}

async function renew() {
  const main = document.querySelector('main[data-live]');
  if (!main || document.hidden || busy(main)) return;
  let text;
  try {
    const answer = await fetch(location.href, {headers: {Accept: 'text/html'}, redirect: 'error'});
    main.classList.toggle('old', !answer.ok);
    if (!answer.ok) return;
    text = await answer.text();
  } catch {
    main.classList.add('old');   // The server does not answer: what is shown is old.
    return;
  }
  const newer = new DOMParser().parseFromString(text, 'text/html').querySelector('main[data-live]');
  if (!newer || busy(main)) return;
  const focused = document.activeElement.getAttribute('href');
  main.replaceChildren(...newer.childNodes);
  if (focused) main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
}

setInterval(renew, every);
