// One stream of events for all tabs of a browser: browsers allow six connections to one
// address, and each open stream takes one.

const ports = new Set();
let token = "";
let stop = null;

function tell(heard) {
  for (const port of ports) port.postMessage(heard);
}

async function listen(mine, signal) {
  while (!signal.aborted) {
    try {
      const headers = { Authorization: `Bearer ${mine}` };
      const response = await fetch("/api/events", { headers, signal });
      if (!response.ok) throw new Error(String(response.status));
      const reader = response.body.getReader();
      while (!(await reader.read()).done) tell("heard");
    } catch {
      if (!signal.aborted) tell("lost");
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

globalThis.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data === "closed") {
      ports.delete(port);
      if (!ports.size) {
        stop?.abort();
        token = "";
      }
      return;
    }
    ports.add(port);
    if (data === token) return port.postMessage("heard");
    token = data;
    stop?.abort();
    stop = new AbortController();
    listen(token, stop.signal);
  };
};
