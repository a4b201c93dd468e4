// What pages do by themselves. Each of them is whole without this file.
'use strict';

// ---- parts that changed are loaded again

const live = document.getElementById('live');

function isBusy(part) {
    return part.contains(document.activeElement) || part.querySelector('details[open], .drawn') !== null;
}

function parts(of) {
    return [...of.querySelectorAll('[data-live][id]')];
}

async function refresh() {
    const reply = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (!reply.ok)
        throw new Error(`status ${reply.status}`);
    const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
    const main = document.getElementById('main');
    const names = (list) => list.map((part) => part.id).join(' ');
    if (names(parts(page)) !== names(parts(document))) { // a part has come or gone
        if (!isBusy(main))
            main.replaceChildren(...page.getElementById('main').childNodes);
        return;
    }
    for (const part of parts(document)) {
        const fresh = page.getElementById(part.id);
        if (!isBusy(part) && fresh.innerHTML !== part.innerHTML)
            part.replaceWith(fresh);
    }
}

function listen(seen) {
    const events = new EventSource(`/v1/events/changes?seen=${encodeURIComponent(seen)}`);
    let waits = false;
    events.addEventListener('open', () => { live.textContent = 'Live.'; });
    events.addEventListener('error', () => {
        live.textContent = 'Not live: the server does not answer.';
        if (events.readyState === EventSource.CLOSED) // it answered with an error: the browser does not try again
            setTimeout(() => listen(seen), 5000);
    });
    events.addEventListener('change', () => {
        if (waits || document.hidden)
            return;
        waits = true;
        setTimeout(() => {
            waits = false;
            refresh().then(() => { live.textContent = `Live, changed ${new Date().toISOString().slice(11, 19)}Z.`; },
                (error) => { live.textContent = `Not live: ${error.message}.`; });
        }, 300);
    });
    addEventListener('pagehide', () => events.close());
}

if (document.body.dataset.seen !== undefined && 'EventSource' in window) {
    listen(document.body.dataset.seen);
    document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh().catch(() => {}); });
}

// ---- the command that does the same as the button

function quoted(text) {
    return /^[\w.:/@+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function showCommand(form) {
    const code = form.parentElement.querySelector('code[data-command]');
    if (!code)
        return;
    const words = [code.dataset.command];
    for (const field of form.querySelectorAll('[data-option]')) {
        const isOff = field.type === 'checkbox' ? !field.checked : field.value === '';
        if (isOff || field.type === 'hidden')
            continue;
        if (field.dataset.option)
            words.push(field.dataset.option);
        if (field.type !== 'checkbox')
            words.push(quoted(field.value));
    }
    code.textContent = words.join(' ');
}

document.addEventListener('input', (event) => {
    const form = event.target.closest('form');
    if (form && form.method === 'post')
        showCommand(form);
});
document.addEventListener('toggle', (event) => {
    const form = event.target.open && event.target.querySelector('form');
    if (form)
        showCommand(form);
}, true);

// ---- a window drawn over a strip: what would a backfill of it plan?

async function preview(strip, from, to) {
    const url = `${strip.dataset.preview}?from=${from}&to=${to}`;
    const reply = await fetch(url, { headers: { Accept: 'text/html' } });
    const page = new DOMParser().parseFromString(await reply.text(), 'text/html');
    const dialog = document.createElement('dialog');
    const heading = document.createElement('h2');
    const close = document.createElement('button');
    heading.textContent = `Dry run of a backfill, ${from} to ${to}`;
    heading.id = 'dialog-head';
    dialog.setAttribute('aria-labelledby', heading.id);
    close.textContent = 'Close';
    close.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => dialog.remove());
    dialog.append(heading, page.getElementById('preview') || page.querySelector('.failing') || '', close);
    document.body.append(dialog);
    dialog.showModal();
}

function instant(strip, x) {
    const box = strip.querySelector('svg').getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (x - box.left) / box.width));
    const from = Number(strip.dataset.from), to = Number(strip.dataset.to);
    return from + part * (to - from);
}

// Whole days where the window is long enough, else whole minutes.
function rounded(from, to) {
    const day = 86400e3, step = to - from >= day ? day : 60e3;
    const text = (at) => step === day ? new Date(at).toISOString().slice(0, 10)
        : new Date(at).toISOString().replace(/:\d\d\.\d+Z/, ':00Z');
    return [text(Math.floor(from / step) * step), text(Math.ceil(to / step) * step)];
}

document.addEventListener('pointerdown', (start) => {
    const strip = start.target.closest('.strip');
    if (!strip || start.button !== 0 || !start.target.closest('svg'))
        return;
    const left = strip.getBoundingClientRect().left;
    const drawn = document.createElement('div');
    drawn.className = 'drawn';
    const move = (event) => {
        const a = Math.min(start.clientX, event.clientX), b = Math.max(start.clientX, event.clientX);
        if (b - a > 4 && !drawn.isConnected)
            strip.append(drawn);
        drawn.style.left = `${a - left}px`;
        drawn.style.width = `${b - a}px`;
    };
    const end = (event) => {
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', end);
        removeEventListener('pointercancel', end);
        const wasDrawn = drawn.isConnected && event.type === 'pointerup';
        drawn.remove();
        if (!wasDrawn)
            return;
        addEventListener('click', (click) => { click.preventDefault(); click.stopPropagation(); }, { capture: true, once: true });
        setTimeout(() => dispatchEvent(new Event('click')), 0); // where the browser makes none
        const times = [instant(strip, start.clientX), instant(strip, event.clientX)].sort((a, b) => a - b);
        preview(strip, ...rounded(...times));
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', end);
    addEventListener('pointercancel', end);
});
document.addEventListener('dragstart', (event) => {
    if (event.target.closest('.strip'))
        event.preventDefault(); // links of a strip are not dragged away
});
