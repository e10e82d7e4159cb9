import { standBetween } from './faults-bench.js';

/* Every fault acts on the replies of a real device as on those of a simulated one: the same tests, with a real meter. */

standBetween();
await import('./faults-tcp.test.js');
await import('./faults-serial.test.js');
