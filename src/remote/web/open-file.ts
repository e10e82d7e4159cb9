import { html } from 'htm/preact';
import { ask } from './api.js';
import { Button } from './ui/controls.js';
import { say } from './ui/toast.js';

/** Maximum size of a file that the simulator accepts, in MiB. */
const LARGEST_MIB = 16;

/** Opens a report, a capture or recorded traffic. The simulator makes the page, like `modbus-sim view`. */
async function openFile(file: File): Promise<void> {
  const { name, size } = file;
  if (size > LARGEST_MIB * 1024 ** 2) {
    say(`${name} has more than ${LARGEST_MIB} MiB`, 'refused');
    return;
  }
  const query = new URLSearchParams({ name: name.slice(0, 200) });
  const bytes = new Blob([file], { type: 'application/octet-stream' });
  const answer = await ask<{ readonly url: string }>('POST', `/view?${query}`, bytes);
  if (answer.ok) location.assign(answer.value.url);
  else say(`${name}: ${answer.problem.detail}`, 'refused');
}

/** A button that asks for a file and opens it. */
export function OpenFile() {
  return html`<${Button} label="Open a file: a report, a capture or recorded traffic" onClick=${choose}>Open a file<//>`;
}

function choose(): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.accept = '.html,.pcapng,.pcap,.ndjson,.jsonl,.json';
  input.onchange = () => {
    for (const file of input.files ?? []) void openFile(file);
  };
  input.click();
}

/** Opens a file that is dropped on the page. Form fields handle their own drops. */
export function followDrops(): void {
  const takes = ({ dataTransfer, target }: DragEvent) =>
    dataTransfer?.types.includes('Files') && !(target as Element).closest?.('input, textarea');
  addEventListener('dragover', (event) => {
    if (takes(event)) event.preventDefault();
  });
  addEventListener('drop', (event) => {
    // A view that accepts files itself has handled the drop.
    if (event.defaultPrevented || !takes(event)) return;
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file) void openFile(file);
  });
}
