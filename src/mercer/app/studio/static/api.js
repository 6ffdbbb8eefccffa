// Talks to the studio. The token comes in the part of the link after #, which browsers
// do not send; it is kept for this tab only and taken out of the address bar.

const found = new URLSearchParams(location.hash.slice(1)).get("token");
if (found) {
  sessionStorage.setItem("mercer-token", found);
  history.replaceState(null, "", location.pathname);
}
const token = sessionStorage.getItem("mercer-token") || "";

export const person = {
  get name() {
    let name = localStorage.getItem("mercer-who");
    if (!name) {
      name = "person " + crypto.getRandomValues(new Uint16Array(1))[0].toString(36);
      localStorage.setItem("mercer-who", name);
    }
    return name;
  },
  set name(value) {
    localStorage.setItem("mercer-who", value);
  },
};

export class ApiError extends Error {
  constructor(message, status, label = null) {
    super(message);
    this.status = status;
    this.label = label; // the class that it is about, if any
  }
}

function headers(more = {}) {
  // Header values are Latin-1: names in other scripts travel escaped.
  const who = encodeURIComponent(person.name);
  return { Authorization: `Bearer ${token}`, "X-Mercer-Who": who, ...more };
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The studio does not answer. Is it still running?", 0);
  }
  if (!response.ok) {
    const said = await response.json().catch(() => ({}));
    throw new ApiError(said.error || `Error ${response.status}`, response.status, said.label);
  }
  return response;
}

export async function get(path, signal) {
  return (await raw(path, signal)).json();
}

export async function raw(path, signal) {
  return request(path, { headers: headers(), signal });
}

async function send(name, body, keepalive = false) {
  const json = headers({ "Content-Type": "application/json" });
  const options = { method: "POST", headers: json, body, keepalive };
  return (await request(`/api/${name}`, options)).json();
}

export function post(name, said) {
  const keepalive = name !== "bulk"; // an answer on its way arrives though the tab is closed
  return send(name, JSON.stringify({ who: person.name, ...said }), keepalive);
}

export const upload = (kind, file) => send(`import/${kind}`, file);

export function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

// An act that must happen exactly once: tried again with the same token when the
// studio did not answer, and the studio knows the token.
export async function once(name, said) {
  const act = { token: newToken(), ...said };
  for (let attempt = 0; ; attempt++) {
    try {
      return await post(name, act);
    } catch (error) {
      if (error.status !== 0 || attempt === 3) throw error;
      await new Promise((done) => setTimeout(done, 300 * 2 ** attempt));
    }
  }
}

// Calls back with true on every change, and with false while the studio is away.
export function listen(heard) {
  if (!globalThis.SharedWorker) return void listenAlone(heard);
  const worker = new SharedWorker("stream.js", { name: "mercer" });
  const { port } = worker;
  worker.onerror = () => {
    heard(false); // its script did not come: the studio was away just then
    setTimeout(() => listen(heard), 1000);
  };
  port.onmessage = ({ data }) => heard(data === "heard");
  port.postMessage(token);
  addEventListener("pagehide", () => port.postMessage("closed"));
  addEventListener("pageshow", (event) => event.persisted && port.postMessage(token));
}

async function listenAlone(heard) {
  for (;;) {
    try {
      const reader = (await raw("/api/events")).body.getReader();
      while (!(await reader.read()).done) heard(true);
    } catch {
      heard(false);
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

// Pictures are kept for a while: those of the next rows are there before they are shown.
const kept = new Map();
const MOST_KEPT = 100;

export function picture(row, data, size = "") {
  const path = `/api/image/${row}?${new URLSearchParams({ data, size })}`;
  if (!kept.has(path)) {
    const found = raw(path).then(async (response) => URL.createObjectURL(await response.blob()));
    kept.set(path, found);
    found.catch(() => kept.delete(path));
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT) {
      kept.get(oldest).then(URL.revokeObjectURL, () => {});
      kept.delete(oldest);
    }
  }
  return kept.get(path);
}
