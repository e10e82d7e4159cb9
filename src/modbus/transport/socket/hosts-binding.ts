import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Binding, BindingContext } from './binding.js';
import { cannotListen, type Listening, STOPPED } from './listen.js';

/** The longest time to open sockets before other lines get their turn of the event loop, in ms. */
const SLICE_MS = 0.5;

/**
 * The sockets of a line that has several addresses: one socket for each, with the same port, for the clients
 * of one list.
 */
export class HostsBinding implements Binding {
  readonly #context: BindingContext;
  readonly #hosts: readonly string[];
  readonly #newBinding: (context: BindingContext) => Binding;
  /** The bindings that are open, and the one that is opening. */
  readonly #bindings: Binding[] = [];
  #isClosed = false;

  /** Makes the binding. @param newBinding makes the binding of one address */
  constructor(
    context: BindingContext,
    hosts: readonly string[],
    newBinding: (context: BindingContext) => Binding,
  ) {
    this.#context = context;
    this.#hosts = hosts;
    this.#newBinding = newBinding;
  }

  /**
   * Opens one socket after the other. The first address that can't be opened ends this: the error names it.
   */
  async open(): Promise<Listening> {
    const { settings } = this.#context;
    let { port } = settings;
    let sliceEndsAt = performance.now() + SLICE_MS;
    for (const host of this.#hosts) {
      if (performance.now() > sliceEndsAt) {
        await nextTurn();
        sliceEndsAt = performance.now() + SLICE_MS;
      }
      if (this.#isClosed) return cannotListen(host, port, STOPPED);
      const binding = this.#newBinding({ ...this.#context, host, settings: { ...settings, host, port } });
      this.#bindings.push(binding);
      const bound = await binding.open();
      if (!bound.ok) {
        // The binding has left nothing open, unless all were closed meanwhile.
        this.#bindings.pop();
        const closed = this.#closeAll();
        // A socket is closed when its last client has gone, and the first addresses may have clients already.
        this.#context.clients.endAll(bound.error, new Set(this.#hosts));
        await closed;
        return bound;
      }
      port = bound.port;
    }
    return { ok: true, address: settings.host, port, notes: [] };
  }

  /** Ends an `open` under way before its next address. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#bindings.splice(0).map((binding) => binding.close()));
  }
}
