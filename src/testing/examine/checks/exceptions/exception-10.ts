import { exceptionCheck } from './exception.js';

/** Exception 10 to every asking of a question. */
export const exception10 = exceptionCheck({
  code: 10,
  name: 'gateway path unavailable',
  matters: 'The gateway is overloaded or set up wrongly; to ask it without end makes that worse.',
  source: 'Application Protocol V1.1b3, 7',
});
