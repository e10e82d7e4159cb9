import { z } from 'zod';
import { lineName, lineViewSchema } from '../../../simulator/commands/schemas/line.js';
import { failures } from '../problem.js';
import { GONE, type Routes } from './route.js';

const lineList = z.object({ lines: z.array(lineViewSchema) }).describe('The lines.');

const leavingLine = z.object({
  name: z.string().meta({ description: 'Name of the line.', examples: ['old-lan'] }),
});

const command = { params: lineName, response: { 200: lineViewSchema, ...failures(404, 409) } };

/** `/api/v1/lines`: the state of lines, and their settings. */
export const LINE_ROUTES: Routes = {
  'GET /lines': {
    summary: 'List the lines',
    description: 'Every line: whether it is open, its settings, its counters and what is known of its port.',
    list: 'line.list',
    as: 'lines',
    response: { 200: lineList },
  },
  'GET /lines/:name': {
    summary: 'Get a line',
    description: 'Whether it is open, its settings, its counters and what is known of its port.',
    call: 'line.get',
    params: lineName,
    response: { 200: lineViewSchema, ...failures(404) },
  },
  'POST /lines': {
    summary: 'Add a line',
    description: 'It is opened at once. When that fails, there is no new line.',
    call: 'line.add',
    response: { 201: lineViewSchema, ...failures(400, 409) },
  },
  'PUT /lines/:name': {
    summary: 'Change a line while it serves',
    description: 'Registers stay. When the port refuses the new settings, the line stays as it was.',
    call: 'line.change',
    params: lineName,
    response: { 200: lineViewSchema, ...failures(400, 404, 409) },
  },
  'DELETE /lines/:name': {
    summary: 'Remove a line',
    description: 'It is closed first. The last line stays.',
    call: 'line.remove',
    params: leavingLine,
    response: { 204: GONE, ...failures(404, 409) },
  },
  'POST /lines/:name/start': {
    summary: 'Open a line',
    description: 'A line that is open stays as it is.',
    call: 'line.start',
    ...command,
  },
  'POST /lines/:name/restart': {
    summary: 'Close a line and open it again',
    description: 'Registers stay. Certificates are read anew.',
    call: 'line.restart',
    ...command,
  },
  'POST /lines/:name/stop': {
    summary: 'Close a line',
    description: 'Replies that wait are given up.',
    call: 'line.stop',
    ...command,
  },
};
