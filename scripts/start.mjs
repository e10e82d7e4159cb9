/**
 * Starts the example of `npm start`: node scripts/start.mjs [OPTIONS]
 * The program runs in this process, so signals reach it. The example has a virtual serial line, which is only
 * available on Linux; other systems get the demo.
 */
const shown = process.platform === 'linux' ? ['--config', 'examples/power-meter.yaml'] : [];
process.argv.splice(1, 1, 'dist/main.js', ...shown);
await import(new URL('../dist/main.js', import.meta.url).href);
