"use strict";
// The page /activity, live: the server sends what has changed. Nothing is sent while the page is hidden.

const live = document.getElementById("live"), failed = document.getElementById("failed");
const statements = document.getElementById("statements");
const maxRows = 500;
let source = null;

// replace shows a part, and keeps the focus on the button that had it.
function replace(box, html) {
	const id = box.contains(document.activeElement) ? document.activeElement.id : "";
	box.innerHTML = html;
	if (id) document.getElementById(id)?.focus();
}

function open() {
	source = new EventSource("/activity/events");
	source.onopen = () => {
		live.classList.add("on");
		live.textContent = "Live";
	};
	source.onerror = () => {
		live.classList.remove("on");
		live.textContent = source.readyState === EventSource.CLOSED ? "Not live: load the page again." : "Connecting …";
	};
	source.onmessage = e => {
		const u = JSON.parse(e.data);
		for (const [part, html] of Object.entries(u.parts ?? {})) {
			const box = document.querySelector(`[data-part="${part}"]`);
			if (box) replace(box, html);
		}
		if (!u.rows) return;
		for (const tr of statements.querySelectorAll(".new")) tr.classList.remove("new");
		const before = statements.rows.length;
		if (u.skipped || u.sampled) {
			const tr = statements.insertRow(0), td = tr.insertCell();
			td.colSpan = 7;
			td.className = "muted";
			td.textContent = u.sampled ? "More, and only a sample is shown" : `${u.skipped} more`;
		}
		statements.insertAdjacentHTML("afterbegin", u.rows);
		for (let i = statements.rows.length - before; i-- > 0;) statements.rows[i].classList.add("new");
		while (statements.rows.length > maxRows) statements.deleteRow(-1);
	};
}

function shut() {
	source?.close();
	source = null;
	live.classList.remove("on");
}

document.addEventListener("visibilitychange", () => document.hidden ? shut() : source ?? open());
addEventListener("pagehide", shut);
addEventListener("pageshow", () => document.hidden || (source ?? open()));

// Forms of the controls, without loading the page again.
document.addEventListener("submit", async e => {
	if (!e.target.matches("[data-act]")) return;
	e.preventDefault();
	const r = await fetch(e.target.action, {
		method: "POST", redirect: "manual", headers: {"X-Fragment": "1"}, body: new URLSearchParams(new FormData(e.target, e.submitter)),
	});
	if (r.status === 401) return location.reload();
	failed.hidden = r.type === "opaqueredirect";
	if (failed.hidden) return e.target.matches("td form") || e.target.reset();
	const text = new DOMParser().parseFromString(await r.text(), "text/html").querySelector(".message p");
	failed.textContent = text ? text.textContent : "That did not work.";
	failed.scrollIntoView({block: "nearest"});
});
