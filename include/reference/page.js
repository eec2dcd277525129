// The search field of the reference: finds names, and words of the text, in the page itself. Without scripts the field
// is not shown. "/" goes to the field, Enter to the first hit, Escape back to the index.
'use strict';
(function () {
    const field = document.getElementById('search'), found = document.getElementById('found'), index = document.getElementById('index');
    const HITS_MAX = 40, AROUND = 40;
    const entries = [];
    for (const section of document.querySelectorAll('main > section')) {
        const page = section.querySelector('h2').textContent;
        let at = section.id;
        entries.push({ name: page, at: at, page: section.querySelector('.brief').textContent, text: '' });
        for (const node of section.querySelectorAll('a[id], p, li, dd'))
            if (node.id)
                entries.push({ name: at = node.id, at: at, page: page, text: '' });
            else if (!node.querySelector('p, li'))
                entries.push({ name: '', at: at, page: page, text: node.textContent });
    }

    function rank(entry, words) { // 0: no hit
        const name = entry.name.toLowerCase(), text = entry.text.toLowerCase();
        if (entry.name)
            return !words.every((word) => name.includes(word)) ? 0 : name === words[0] ? 4 : name.startsWith(words[0]) ? 3 : 2;
        return words.every((word) => text.includes(word)) ? 1 : 0;
    }

    function around(text, word) {
        const start = Math.max(0, text.toLowerCase().indexOf(word) - AROUND);
        return (start ? '… ' : '') + text.slice(start, start + 3 * AROUND) + ' …';
    }

    function show() {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        const hits = words.length ? entries.map((entry) => [rank(entry, words), entry]).filter((hit) => hit[0]) : [];
        hits.sort((a, b) => b[0] - a[0]);
        found.replaceChildren(...hits.slice(0, HITS_MAX).map(([, entry]) => {
            const item = document.createElement('li'), link = document.createElement('a'), small = document.createElement('small');
            link.href = '#' + entry.at;
            link.textContent = entry.name || entry.at.replace(/^page-/, '');
            small.textContent = entry.name ? entry.page : around(entry.text, words[0]);
            link.append(small);
            item.append(link);
            return item;
        }));
        if (words.length && !hits.length)
            found.append('nothing found');
        index.hidden = words.length > 0;
    }

    field.hidden = false;
    field.addEventListener('input', show);
    document.addEventListener('keydown', (event) => {
        const first = found.querySelector('a');
        if (event.key === '/' && document.activeElement !== field) {
            event.preventDefault();
            field.focus();
        } else if (event.key === 'Enter' && document.activeElement === field && first) {
            location.hash = first.getAttribute('href');
        } else if (event.key === 'Escape') {
            field.value = '';
            show();
        }
    });
})();
