import { concatBytes, packWords } from '../protocol/bytes.js';
import { ExceptionCode } from '../protocol/exception-code.js';
import { FunctionCode } from '../protocol/function-code.js';
import { echoResponse } from '../protocol/pdu.js';
import type { FileRequest } from '../protocol/request.js';
import { MAX_FIFO_COUNT } from './queue-feed.js';
import type { Server } from './server.js';

const REFERENCE_TYPE = 6;

/** Executes functions 20, 21 and 24. Undefined means exception 02, and that nothing was changed. */
export function executeFiles({ files, queues, reactions }: Server, request: FileRequest, pdu: Uint8Array) {
  switch (request.code) {
    case FunctionCode.readFileRecord: {
      if (!request.parts.every((part) => files.canRead(part))) return undefined;
      const parts = request.parts.map((part) => {
        const data = packWords(files.read(part));
        return concatBytes([data.length + 1, REFERENCE_TYPE], data);
      });
      const data = concatBytes(...parts);
      return concatBytes([request.code, data.length], data);
    }
    case FunctionCode.writeFileRecord:
      if (!request.parts.every((part) => files.canWrite(part))) return undefined;
      if (reactions.isBusy) return ExceptionCode.serverDeviceBusy;
      for (const part of request.parts) files.write(part, part.words);
      return echoResponse(pdu, pdu.length);
    case FunctionCode.readFifoQueue: {
      const values = queues ? queues.get(request.address) : [];
      if (!values) return undefined;
      if (values.length > MAX_FIFO_COUNT) return ExceptionCode.illegalDataValue;
      return concatBytes([request.code], packWords([2 * values.length + 2, values.length, ...values]));
    }
  }
}
