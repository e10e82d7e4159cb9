/** A page that is hidden is given no frames. */
const HIDDEN_MS = 1000;

/** Resolves when the browser draws next, or soon when it draws nothing. */
export function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      resolve();
    };
    const frame = requestAnimationFrame(done);
    const timer = setTimeout(done, HIDDEN_MS);
  });
}
