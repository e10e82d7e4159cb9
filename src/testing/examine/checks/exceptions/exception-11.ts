import { exceptionCheck } from './exception.js';

/** Exception 11 to every asking of a question. */
export const exception11 = exceptionCheck({
  code: 11,
  name: 'gateway target device failed to respond',
  matters: 'One device behind the gateway is away; to ask it without end takes the time of all others there.',
  source: 'Application Protocol V1.1b3, 7',
});
