/**
 * Starts to measure work. The function that is returned tells how many ms it has taken so far: those of the clock, or of
 * the processor where they are fewer. So neither other programs nor other threads of this one count.
 */
export function startWorkTime(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return Math.min(performance.now() - startedAt, (user + system) / 1000);
  };
}
