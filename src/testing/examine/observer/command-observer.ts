import { spawn } from 'node:child_process';
import { IN_SHELL, signalGroup } from '../../scenario/dut.js';
import { LONGEST_ANSWER, type Observer, type ObserverText, READ_LIMIT_MS, shownText } from './observer.js';

/** The time between two readings, in ms. Starting a process takes time that the line needs as well. */
const PACE_MS = 500;

/**
 * Makes an observer of a command that prints what the client has read, each time it is started. Its last line
 * counts.
 */
export function commandObserver(command: string): Observer {
  return { name: `command ${command}`, paceMs: PACE_MS, read: () => outputOf(command) };
}

function outputOf(command: string): Promise<ObserverText> {
  return new Promise((resolve) => {
    const child = spawn(command, { ...IN_SHELL, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    const end = (shown: ObserverText) => {
      clearTimeout(late);
      // Processes that the command has started end with it.
      signalGroup(child, 'SIGKILL');
      resolve(shown);
    };
    const late = setTimeout(
      () => end({ ok: false, error: `did not end within ${READ_LIMIT_MS} ms` }),
      READ_LIMIT_MS,
    );
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text: string) => {
      output += text;
      if (output.length > LONGEST_ANSWER)
        end({ ok: false, error: `printed more than ${LONGEST_ANSWER} characters` });
    });
    child.once('error', ({ message }) => end({ ok: false, error: `could not be started: ${message}` }));
    child.once('close', (code) => {
      const last = output.trim().split('\n').at(-1) ?? '';
      end(code === 0 ? shownText(last) : { ok: false, error: `ended with exit code ${code}` });
    });
  });
}
