"use strict";
// The editor of the page /query: colours, completion, a live plan, results without loading the page again, a history,
// and UPDATE statements for cells. Everything it shows comes from the server, which escapes it, or is set as text.

const form = document.getElementById("editor"), area = form.elements.text, code = area.parentElement;
const overlay = code.querySelector("pre"), list = document.getElementById("completions");
const planBox = document.getElementById("plan"), resultBox = document.getElementById("result");

const keywords = ("ADD AGGREGATE ALLOW ALTER AND ANN APPLY AS ASC BATCH BEGIN BY CALLED CAST CLUSTERING CONTAINS COUNT CREATE CUSTOM DELETE " +
	"DESC DESCRIBE DISTINCT DROP ENTRIES EXISTS FILTERING FROM FULL FUNCTION GRANT GROUP IF IN INDEX INSERT INTO IS JSON KEY KEYS KEYSPACE " +
	"KEYSPACES LANGUAGE LIKE LIMIT LIST LOGGED MATERIALIZED NOT NULL OF ON OPTIONS OR ORDER PARTITION PER PERMISSIONS PRIMARY RENAME REPLACE " +
	"RETURNS REVOKE ROLE ROLES SCHEMA SELECT SET STATIC TABLE TABLES TIMESTAMP TO TOKEN TRUNCATE TTL TYPE TYPES UNLOGGED UPDATE USE USING " +
	"VALUES VIEW WHERE WITH WRITETIME ASCII BIGINT BLOB BOOLEAN COUNTER DATE DECIMAL DOUBLE DURATION FLOAT FROZEN INET INT MAP SMALLINT TEXT " +
	"TIME TIMEUUID TINYINT TUPLE UUID VARCHAR VARINT VECTOR TRUE FALSE").split(" ");
const isKeyword = new Set(keywords);
const lexeme = /(--[^\n]*|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|('(?:[^']|'')*'?|\$\$[^]*?(?:\$\$|$))|("(?:[^"]|"")*"?)|(\b[0-9][0-9A-Za-z.\-]*)|([A-Za-z_][A-Za-z0-9_]*)/g;

// colour shows the text with colours below the transparent text of the textarea.
function colour() {
	const text = area.value, parts = document.createDocumentFragment();
	let at = 0;
	const add = (s, kind) => {
		if (!kind) return parts.append(s);
		const span = document.createElement("span");
		span.className = kind;
		span.textContent = s;
		parts.append(span);
	};
	for (const m of text.length > 200000 ? [] : text.matchAll(lexeme)) {
		add(text.slice(at, m.index));
		add(m[0], m[1] ? "tc" : m[2] ? "ts" : m[4] ? "tn" : m[5] && isKeyword.has(m[5].toUpperCase()) ? "tk" : "");
		at = m.index + m[0].length;
	}
	parts.append(text.slice(at) + "\n");
	overlay.replaceChildren(parts);
	overlay.scrollTop = area.scrollTop;
}

// Completion.

let names = null; // columns by table by keyspace
async function loadNames() {
	if (names) return;
	names = {};
	const r = await fetch("/query/names");
	if (r.ok) names = await r.json();
}

const quoted = name => /^[a-z][a-z0-9_]*$/.test(name) && !isKeyword.has(name.toUpperCase()) ? name : '"' + name.replaceAll('"', '""') + '"';

// candidates are the words that fit before the cursor.
function candidates(before, word) {
	const found = [], known = new Set(), low = word.toLowerCase();
	const add = (texts, kind) => {
		for (const t of texts) {
			const insert = kind === "keyword" ? t : quoted(t);
			if (t.toLowerCase().startsWith(low) && t.length > low.length && !known.has(insert) && found.length < 40) {
				known.add(insert);
				found.push({insert, kind});
			}
		}
	};
	const dotted = before.match(/([A-Za-z_][A-Za-z0-9_]*)\.$/);
	if (dotted) {
		add(Object.keys(names[dotted[1]] || {}), "table");
		return found;
	}
	const text = area.value, keyspace = form.elements.keyspace.value;
	const isTablePlace = /\b(from|into|update|table|truncate|on)\s+$/i.test(before);
	const tables = Object.keys(names[keyspace] || {});
	if (!isTablePlace && word) {
		for (const [k, all] of Object.entries(names)) {
			for (const [t, columns] of Object.entries(all)) {
				if (text.includes(k + "." + t) || k === keyspace && new RegExp("\\b" + t.replace(/\W/g, "\\$&") + "\\b").test(text)) add(columns, "column");
			}
		}
	}
	if (isTablePlace || word) {
		add(tables, "table");
		add(Object.keys(names), "keyspace");
	}
	if (word && !isTablePlace) add(word === word.toUpperCase() ? keywords : keywords.map(k => k.toLowerCase()), "keyword");
	return found;
}

let chosen = -1, prefix = "";
function complete(always) {
	const end = area.selectionStart, before = area.value.slice(0, end);
	prefix = before.match(/[A-Za-z_][A-Za-z0-9_]*$/)?.[0] ?? "";
	const inString = (before.match(/'/g) || []).length % 2 === 1;
	if (!names || end !== area.selectionEnd || inString || !(always || prefix || before.endsWith("."))) return close();
	const all = candidates(before.slice(0, end - prefix.length), prefix);
	if (!all.length) return close();
	list.replaceChildren(...all.map((c, i) => {
		const li = document.createElement("li"), kind = document.createElement("span");
		li.role = "option";
		li.id = "completion-" + i;
		li.dataset.insert = c.insert;
		kind.textContent = c.kind;
		li.append(c.insert, kind);
		return li;
	}));
	const place = document.createElement("span");
	const range = document.createRange(), walk = document.createTreeWalker(overlay, NodeFilter.SHOW_TEXT);
	let left = end - prefix.length;
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		if (left <= n.length) {
			range.setStart(n, left);
			break;
		}
		left -= n.length;
	}
	range.insertNode(place);
	list.hidden = false;
	const top = place.offsetTop - area.scrollTop + 22;
	list.style.left = Math.max(0, Math.min(place.offsetLeft, code.clientWidth - list.offsetWidth)) + "px";
	list.style.top = top + "px";
	place.remove();
	overlay.normalize();
	choose(-1);
}

function choose(i) {
	chosen = i;
	[...list.children].forEach((li, n) => li.ariaSelected = String(n === i));
	if (i >= 0) {
		list.children[i].scrollIntoView({block: "nearest"});
		area.setAttribute("aria-activedescendant", list.children[i].id);
	} else area.removeAttribute("aria-activedescendant");
}

function close() {
	list.hidden = true;
	chosen = -1;
	area.removeAttribute("aria-activedescendant");
}

function accept(li) {
	const end = area.selectionStart;
	area.setRangeText(li.dataset.insert, end - prefix.length, end, "end");
	close();
	changed();
}

// The plan of the statement, a moment after it was changed.
let timer = 0, asked = 0;
function planSoon() {
	clearTimeout(timer);
	timer = setTimeout(async () => {
		const mine = ++asked;
		const r = await post("/query/plan", new URLSearchParams(new FormData(form)));
		if (r.ok && mine === asked) planBox.innerHTML = await r.text();
	}, 350);
}

function changed() {
	colour();
	planSoon();
}

const post = (to, body) => fetch(to, {method: "POST", body, headers: {"X-Fragment": "1"}});

// run sends a form, and shows the result below the editor.
async function run(data) {
	close();
	resultBox.ariaBusy = "true";
	try {
		const r = await post("/query", new URLSearchParams(data));
		if (r.status === 401) return location.reload();
		resultBox.innerHTML = await r.text();
	} catch {
		resultBox.textContent = "The server did not answer.";
	}
	resultBox.ariaBusy = "false";
	makeEditable();
}

form.addEventListener("submit", e => {
	const by = e.submitter;
	if (by?.formAction?.endsWith("/query/download")) return;
	e.preventDefault();
	const data = new FormData(form, by);
	const part = area.value.slice(area.selectionStart, area.selectionEnd);
	if (part.trim() && document.activeElement !== by) data.set("text", part);
	remember(data.get("text"));
	run(data);
});

resultBox.addEventListener("submit", e => {
	if (!e.target.matches("[data-run]")) return;
	e.preventDefault();
	run(new FormData(e.target)).then(() => resultBox.querySelector("[role=region]")?.focus());
});

// Selecting another window keeps the selection of the textarea, so a click on Run runs the whole text.
area.addEventListener("keydown", e => {
	const n = list.children.length, open = !list.hidden;
	if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
		e.preventDefault();
		form.requestSubmit();
	} else if (e.key === " " && e.ctrlKey) {
		e.preventDefault();
		complete(true);
	} else if (open && e.key === "ArrowDown") {
		e.preventDefault();
		choose((chosen + 1) % n);
	} else if (open && e.key === "ArrowUp") {
		e.preventDefault();
		choose(chosen > 0 ? chosen - 1 : n - 1);
	} else if (open && (e.key === "Tab" && !e.shiftKey || e.key === "Enter" && chosen >= 0)) {
		e.preventDefault();
		accept(list.children[Math.max(chosen, 0)]);
	} else if (open && e.key === "Escape") {
		e.preventDefault();
		close();
	}
});
area.addEventListener("input", () => {
	changed();
	complete(false);
});
area.addEventListener("scroll", () => {
	overlay.scrollTop = area.scrollTop;
	close();
});
area.addEventListener("focus", loadNames);
area.addEventListener("blur", () => setTimeout(close, 150));
list.addEventListener("mousedown", e => {
	const li = e.target.closest("li");
	e.preventDefault();
	if (li) accept(li);
});
form.elements.keyspace.addEventListener("change", planSoon);

// History, by role, without statements that may have passwords.
const shelf = "cqld history " + form.dataset.role, historyBox = document.getElementById("history");
const past = () => {
	try {
		return JSON.parse(localStorage.getItem(shelf)) || [];
	} catch {
		return [];
	}
};
function remember(text) {
	text = String(text).trim();
	if (!text || text.length > 20000 || /password/i.test(text)) return;
	try {
		localStorage.setItem(shelf, JSON.stringify([text, ...past().filter(t => t !== text)].slice(0, 100)));
	} catch { /* the storage is full or forbidden */ }
	showHistory();
}
function showHistory() {
	const all = past();
	historyBox.hidden = !all.length;
	historyBox.querySelector("ol").replaceChildren(...all.map(text => {
		const li = document.createElement("li"), b = document.createElement("button");
		b.type = "button";
		b.textContent = text.replace(/\s+/g, " ");
		b.addEventListener("click", () => put(text));
		li.append(b);
		return li;
	}));
}
historyBox.querySelector("p button").addEventListener("click", () => {
	localStorage.removeItem(shelf);
	showHistory();
});

function put(text) {
	area.value = text;
	changed();
	area.focus();
}

// Cells: the arrow keys move, Enter edits.
const dialog = document.getElementById("edit"), value = dialog.querySelector("input");
let update = () => "";
function makeEditable() {
	const first = resultBox.querySelector("table[data-table] tbody td");
	if (first) first.tabIndex = 0;
}

function edit(td) {
	const row = td.parentElement, head = td.closest("table").tHead.rows[0].cells[td.cellIndex];
	const where = "static" in head.dataset ? row.dataset.partition : row.dataset.where;
	if (!head.dataset.column || !where) return;
	const counter = head.querySelector(".type").textContent === "counter", column = head.dataset.column;
	dialog.querySelector("bdi").textContent = column;
	value.value = counter ? "1" : td.dataset.literal ?? "";
	update = () => `UPDATE ${td.closest("table").dataset.table} SET ${column} = ${counter ? column + " + " : ""}${value.value || "null"} WHERE ${where};`;
	dialog.querySelector("pre").textContent = update();
	dialog.returnValue = "";
	dialog.showModal();
	value.select();
	dialog.onclose = () => {
		if (dialog.returnValue === "use") put(update());
		else td.focus();
	};
}
value.addEventListener("input", () => dialog.querySelector("pre").textContent = update());

resultBox.addEventListener("keydown", e => {
	const td = e.target.closest("table[data-table] td");
	if (!td) return;
	const body = td.closest("tbody"), row = td.parentElement.sectionRowIndex;
	const to = {
		ArrowLeft: td.previousElementSibling, ArrowRight: td.nextElementSibling,
		ArrowUp: body.rows[row - 1]?.cells[td.cellIndex], ArrowDown: body.rows[row + 1]?.cells[td.cellIndex],
	}[e.key];
	if (to) {
		e.preventDefault();
		move(td, to);
	} else if (e.key === "Enter" || e.key === "F2") {
		e.preventDefault();
		edit(td);
	}
});
function move(from, to) {
	from?.removeAttribute("tabindex");
	to.tabIndex = 0;
	to.focus();
}
resultBox.addEventListener("click", e => {
	const td = e.target.closest("table[data-table] td");
	if (td && !getSelection().toString()) move(resultBox.querySelector("td[tabindex]"), td);
});
resultBox.addEventListener("dblclick", e => {
	const td = e.target.closest("table[data-table] td");
	if (td) edit(td);
});

code.classList.add("coloured");
document.getElementById("keys").hidden = false;
area.role = "combobox";
area.setAttribute("aria-controls", "completions");
area.setAttribute("aria-autocomplete", "list");
colour();
showHistory();
makeEditable();
if (document.activeElement === area) loadNames();
