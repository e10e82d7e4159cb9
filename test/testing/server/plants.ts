import { FRAMINGS } from '../../../src/modbus/protocol/framings.js';
import { answering, modelDevice, set } from './model-device.js';
import type { Answer } from './model-servers.js';
import {
  type Asked,
  checkedRtu,
  DELAY_MS,
  device,
  type Peer,
  type PlantedServer,
  reply,
  rtu,
  rtuFrame,
  T35_MS,
  tcp,
  uncheckedRtu,
} from './planted.js';

/*
 * Servers with one mistake each, from the specification and from public reports. Their author knew the checks.
 * Each names the checks of which one has to find it.
 */

export interface Plant {
  readonly on: 'tcp' | 'rtu';
  /** A new server. */
  readonly server: () => PlantedServer;
  /** The checks of which one has to be violated; `fact: id` for what is reported. */
  readonly by: readonly string[];
  /** What may be violated beside these, as it is true of this server, too. */
  readonly too?: readonly string[];
}

const word = (pdu: Uint8Array, at: number) => ((pdu[at] ?? 0) << 8) | (pdu[at + 1] ?? 0);
const many = (length: number) => Array.from({ length }, (_, i) => i);
const isException = (pdu: readonly number[]) => (pdu[0] ?? 0) > 0x7f;

/** Changes what the usual device answers. */
const answers =
  (change: (pdu: Uint8Array, right: readonly number[], answer: Answer) => readonly number[] | undefined) =>
  (base = device()): Answer =>
  (pdu) => {
    const right = base(pdu);
    return right && change(pdu, right, base);
  };
/** A server on TCP whose device answers so. */
const pdus = (
  by: readonly string[],
  change: (pdu: Uint8Array, right: readonly number[], answer: Answer) => readonly number[] | undefined,
  too: readonly string[] = [],
): Plant => ({ on: 'tcp', server: () => tcp(undefined, answers(change)()), by, too });
/** A server on TCP that does so with each request. `n` counts the requests of a connection from 1. */
const frames = (
  by: readonly string[],
  respond: (asked: Asked, peer: Peer, right: readonly number[], n: number) => void,
  too: readonly string[] = [],
): Plant => ({
  ...{ on: 'tcp', by, too },
  server: () => {
    const answer = device();
    return (peer) => {
      let n = 0;
      return tcp((asked, to) => {
        const right = answer(asked.pdu);
        if (right) respond(asked, to, right, ++n);
      })(peer);
    };
  },
});
const encoded = (asked: Asked, pdu: readonly number[]) =>
  FRAMINGS.socket.encode({ ...asked, pdu: Uint8Array.from(pdu) });
const changed = (bytes: Uint8Array, at: number, value: number) => {
  bytes[at] = value & 0xff;
  return bytes;
};

export const TCP_PLANTS: Readonly<Record<string, Plant>> = {
  // Reads
  'coils begin at the byte that contains the first one, like esp-modbus#35': pdus(
    ['block-agrees', 'fc05-echo', 'fc15-echo'],
    (pdu, right, answer) => {
      if (pdu[0] !== 1 || isException(right)) return right;
      const first = word(pdu, 1);
      return answer(Uint8Array.of(1, (first >> 8) & 0xff, first & 0xf8, pdu[3] ?? 0, pdu[4] ?? 0));
    },
  ),
  'discrete inputs begin at the byte that contains the first one': pdus(
    ['block-agrees'],
    (pdu, right, answer) => {
      if (pdu[0] !== 2 || isException(right)) return right;
      const first = word(pdu, 1);
      return answer(Uint8Array.of(2, (first >> 8) & 0xff, first & 0xf8, pdu[3] ?? 0, pdu[4] ?? 0));
    },
  ),
  'the first coil is in the highest bit': pdus(
    ['fc05-echo', 'fc15-echo', 'fc01-padding', 'block-agrees'],
    (pdu, right) =>
      pdu[0] !== 1 || isException(right)
        ? right
        : [
            ...right.slice(0, 2),
            ...right
              .slice(2)
              .map((byte) => many(8).reduce((sum, i) => sum | (((byte >> i) & 1) << (7 - i)), 0)),
          ],
  ),
  'an extra byte if the coils fill their bytes': pdus(['frames'], (pdu, right) =>
    (pdu[0] ?? 0) <= 2 && !isException(right) && word(pdu, 3) % 8 === 0
      ? [pdu[0] ?? 0, (right[1] ?? 0) + 1, ...right.slice(2), 0]
      : right,
  ),
  'reads of two registers have swapped words, longer reads do not': pdus(['block-agrees'], (pdu, right) =>
    pdu[0] === 3 && word(pdu, 3) === 2 && !isException(right)
      ? [3, 4, ...right.slice(4, 6), ...right.slice(2, 4)]
      : right,
  ),
  'input registers of a block are in reverse order': pdus(['block-agrees'], (pdu, right) =>
    pdu[0] === 4 && word(pdu, 3) > 1 && !isException(right)
      ? [
          4,
          right[1] ?? 0,
          ...many(word(pdu, 3))
            .reverse()
            .flatMap((i) => right.slice(2 + 2 * i, 4 + 2 * i)),
        ]
      : right,
  ),
  'quantities are one byte, so 256 coils are read as none': pdus(
    ['frames', 'fc01-quantity-2000'],
    (pdu, right, answer) =>
      (pdu[0] ?? 0) <= 2 && word(pdu, 3) > 255 && !isException(right)
        ? answer(Uint8Array.of(pdu[0] ?? 0, pdu[1] ?? 0, pdu[2] ?? 0, 0, (pdu[4] ?? 0) || 1))
        : right,
  ),
  'a block beyond the end is cut to the existing registers': pdus(
    ['frames', 'map-end'],
    (pdu, right, answer) => {
      const first = word(pdu, 1);
      if (pdu[0] !== 3 || !isException(right) || right[1] !== 2 || first >= 300) return right;
      return answer(Uint8Array.of(3, first >> 8, first & 0xff, 0, 300 - first));
    },
  ),
  'a block beyond the end is filled with zeros': pdus(['map-end'], (pdu, right) =>
    pdu[0] === 3 && isException(right) && right[1] === 2 && word(pdu, 1) < 300
      ? [3, 2 * word(pdu, 3), ...many(2 * word(pdu, 3)).map(() => 0)]
      : right,
  ),
  'any block with the last register is refused': pdus(['map-end', 'block-agrees'], (pdu, right) =>
    pdu[0] === 3 && word(pdu, 3) > 1 && word(pdu, 1) + word(pdu, 3) === 300 ? [0x83, 2] : right,
  ),
  'addresses have eight bits': pdus(
    ['address-wraps', 'address-unknown'],
    (pdu, right, answer) =>
      (pdu[0] ?? 0) <= 4 && pdu.length === 5 && (pdu[1] ?? 0) > 0
        ? answer(Uint8Array.of(pdu[0] ?? 0, 0, pdu[2] ?? 0, pdu[3] ?? 0, pdu[4] ?? 0))
        : right,
    ['block-agrees'],
  ),
  'every read of 40 or more registers is off by two registers': pdus(
    ['block-agrees'],
    (pdu, right, answer) =>
      pdu[0] === 3 && word(pdu, 3) >= 40 && !isException(right)
        ? answer(Uint8Array.of(3, pdu[1] ?? 0, (pdu[2] ?? 0) + 2, pdu[3] ?? 0, pdu[4] ?? 0))
        : right,
  ),
  'reads of 125 registers return 124, with a matching byte count': pdus(
    ['frames', 'fc03-quantity-125'],
    (pdu, right) =>
      pdu[0] === 3 && word(pdu, 3) === 125 && !isException(right) ? [3, 248, ...right.slice(2, 250)] : right,
  ),
  'function 4 refuses more than 100 registers with 04': pdus(['fc04-quantity-125'], (pdu, right) =>
    pdu[0] === 4 && word(pdu, 3) > 100 && !isException(right) ? [0x84, 4] : right,
  ),
  // Refusals
  'missing addresses get an empty reply': pdus(['frames'], (pdu, right) =>
    isException(right) && right[1] === 2 && (pdu[0] ?? 0) <= 4 ? [pdu[0] ?? 0, 0] : right,
  ),
  'exceptions have an extra byte': pdus(['frames'], (_, right) =>
    isException(right) ? [...right, 0] : right,
  ),
  'exceptions have no code': pdus(['frames'], (_, right) => (isException(right) ? right.slice(0, 1) : right)),
  'exceptions always have function 3': pdus(['frames', 'function-unknown'], (_, right) =>
    isException(right) ? [0x83, right[1] ?? 0] : right,
  ),
  'exceptions have no flag': pdus(['frames'], (_, right) =>
    isException(right) ? [(right[0] ?? 0) & 0x7f, right[1] ?? 0] : right,
  ),
  'unknown addresses are refused with 03': pdus(['address-unknown'], (_, right) =>
    isException(right) && right[1] === 2 ? [right[0] ?? 0, 3] : right,
  ),
  'unknown functions are refused with 02': pdus(
    ['function-unknown'],
    (_, right) => (isException(right) && right[1] === 1 ? [right[0] ?? 0, 2] : right),
    ['function-0', 'fc43-basic', 'fc08-loopback', 'fc07-shape', 'fc11-shape', 'fc17-shape', 'fc12-answered'],
  ),
  'function codes have seven bits': pdus(['function-over-127'], (pdu, right, answer) =>
    (pdu[0] ?? 0) > 0x7f ? answer(Uint8Array.of((pdu[0] ?? 0) & 0x7f, ...pdu.slice(1))) : right,
  ),
  'functions above 64 get an empty reply': {
    ...{ on: 'tcp', by: ['function-unknown'] },
    server: () => {
      const answer = device();
      return tcp(undefined, (pdu) => ((pdu[0] ?? 0) > 64 ? undefined : answer(pdu)));
    },
  },
  'up to 127 registers are answered': (() => {
    const base = answering(modelDevice());
    return {
      ...{ on: 'tcp', by: ['fc03-quantity-126'] },
      server: () =>
        tcp(undefined, (pdu) =>
          pdu[0] === 3 && [126, 127].includes(word(pdu, 3)) && word(pdu, 1) + 127 <= 300
            ? [3, 2 * word(pdu, 3), ...many(2 * word(pdu, 3)).map((i) => i & 0xff)]
            : base(pdu),
        ),
    };
  })(),
  // Writes
  'function 16 repeats its whole request': pdus(['frames', 'fc16-echo'], (pdu, right) =>
    pdu[0] === 16 && !isException(right) ? [...pdu] : right,
  ),
  'function 16 confirms one register too few': pdus(
    ['fc16-echo'],
    (pdu, right) =>
      pdu[0] === 16 && !isException(right) ? [...right.slice(0, 4), (right[4] ?? 0) - 1] : right,
    ['fc16-quantity-123'],
  ),
  'function 15 confirms bytes instead of coils': pdus(['fc15-echo'], (pdu, right) =>
    pdu[0] === 15 && !isException(right) ? [...right.slice(0, 3), 0, pdu[5] ?? 0] : right,
  ),
  'function 6 has no value in its reply': pdus(['frames', 'fc06-echo'], (pdu, right) =>
    pdu[0] === 6 && !isException(right) ? right.slice(0, 3) : right,
  ),
  'function 5 accepts 0001 as on': (() => {
    const make = () => {
      const model = modelDevice();
      const base = answering(model);
      return tcp(undefined, (pdu) => {
        if (pdu[0] !== 5 || pdu.length !== 5) return base(pdu);
        if (word(pdu, 1) >= model.coils.length) return [0x85, 2];
        set(model.coils, word(pdu, 1), Number(word(pdu, 3) !== 0));
        return [...pdu];
      });
    };
    return { on: 'tcp', by: ['fc05-value-illegal'], server: make };
  })(),
  'function 22 has its masks swapped': (() => {
    const make = () => {
      const base = device();
      return tcp(undefined, (pdu) => {
        if (pdu[0] !== 22 || pdu.length !== 7) return base(pdu);
        const swapped = Uint8Array.of(22, ...pdu.slice(1, 3), ...pdu.slice(5, 7), ...pdu.slice(3, 5));
        const right = base(swapped);
        return right && (isException(right) ? right : [...pdu]);
      });
    };
    return { on: 'tcp', by: ['fc22-mask'], server: make };
  })(),
  'function 23 reads before it writes': (() => {
    const make = () => {
      const base = device();
      return tcp(undefined, (pdu) => {
        if (pdu[0] !== 23) return base(pdu);
        const before = base(Uint8Array.of(3, ...pdu.slice(1, 5)));
        const right = base(pdu);
        return right && !isException(right) && before && !isException(before)
          ? [23, ...before.slice(1)]
          : right;
      });
    };
    return { on: 'tcp', by: ['fc23-order'], server: make };
  })(),
  'function 16 uses its byte count, not its length': (() => {
    const make = () => {
      const base = device();
      let buffer = new Uint8Array(260);
      return tcp(undefined, (pdu) => {
        const before = buffer;
        buffer = Uint8Array.from({ length: 260 }, (_, i) => pdu[i] ?? before[i] ?? 0);
        if (pdu[0] !== 16 || pdu.length >= 6 + (pdu[5] ?? 0)) return base(pdu);
        return base(buffer.slice(0, 6 + (pdu[5] ?? 0)));
      });
    };
    return { on: 'tcp', by: ['fc16-data-missing'], server: make };
  })(),
  'a written value is stored after 600 ms': {
    ...{ on: 'tcp', by: ['write-read-back'] },
    server: () => {
      const model = modelDevice();
      const { put } = model;
      const answer = answering(model);
      return (peer) => {
        Object.assign(model, {
          put: (first: number, words: readonly number[], code: number) =>
            void peer.clock.callAfter(600, () => put(first, words, code)),
        });
        return tcp(undefined, answer)(peer);
      };
    },
  },
  'a write is lost on the next connection': {
    ...{ on: 'tcp', by: ['write-read-back', 'fc06-echo'] },
    server: () => (peer) => tcp(undefined, device())(peer),
  },
  // Identification
  '"more follows" never ends': pdus(
    ['fc43-basic'],
    (pdu, right) =>
      pdu[0] === 43 ? [43, 14, pdu[2] ?? 1, 1, 0xff, 0, 3, 0, 1, 65, 1, 1, 66, 2, 1, 67] : right,
    ['fc43-extended', 'fc43-code-illegal', 'fc43-object-unknown', 'fc43-mei-unknown'],
  ),
  'the number of objects is one too high': pdus(
    ['fc43-basic'],
    (pdu, right) => (pdu[0] === 43 ? [43, 14, pdu[2] ?? 1, 1, 0, 0, 4, 0, 1, 65, 1, 1, 66, 2, 1, 67] : right),
    ['fc43-extended', 'fc43-code-illegal', 'fc43-object-unknown', 'fc43-mei-unknown'],
  ),
  'function 17 has no byte count, like freemodbus#17': pdus(['fc17-shape', 'frames'], (pdu, right) =>
    pdu[0] === 17 ? [17, 65, 66, 67, 0xff] : right,
  ),
  'function 8 echoes zeros': pdus(
    ['fc08-loopback'],
    (pdu, right) => (pdu[0] === 8 ? [8, pdu[1] ?? 0, pdu[2] ?? 0, 0, 0] : right),
    ['fc08-sub-unknown'],
  ),
  // Headers
  'the length counts the whole header': frames(['frames'], (asked, peer, right) =>
    peer.send(changed(encoded(asked, right), 5, right.length + 7), DELAY_MS),
  ),
  'the low byte of the transaction identifier is 0': frames(['mbap-echo'], (asked, peer, right) =>
    peer.send(changed(encoded(asked, right), 1, 0), DELAY_MS),
  ),
  'exceptions have the transaction identifier 0': frames(['mbap-echo'], (asked, peer, right) =>
    peer.send(encoded(isException(right) ? { ...asked, transactionId: 0 } : asked, right), DELAY_MS),
  ),
  'replies have the transaction identifier of the connection': {
    ...{ on: 'tcp', by: ['mbap-echo'] },
    server: () => {
      const answer = device();
      return (peer) => {
        let id: number | undefined;
        return tcp((asked, to) => {
          id ??= asked.transactionId;
          reply({ ...asked, transactionId: id }, to, answer(asked.pdu));
        })(peer);
      };
    },
  },
  'replies have unit 255': frames(['frames', 'unit-255', 'unit-0'], (asked, peer, right) =>
    reply({ ...asked, unitId: 255 }, peer, right),
  ),
  'replies have the protocol identifier 1': frames(['frames'], (asked, peer, right) =>
    peer.send(changed(encoded(asked, right), 3, 1), DELAY_MS),
  ),
  // Connections and time
  'closes after each exception': frames(['keeps-connection'], (asked, peer, right) => {
    reply(asked, peer, right);
    if (isException(right)) peer.close(DELAY_MS + 1);
  }),
  'closes after 200 requests': frames(
    ['keeps-connection', 'fact: keeps-connection'],
    (asked, peer, right, n) => {
      reply(asked, peer, right);
      if (n === 200) peer.close(DELAY_MS + 1);
    },
  ),
  'does not answer on a connection after an exception, like nanoMODBUS#67': {
    ...{ on: 'tcp', by: ['keeps-connection'] },
    server: () => {
      const answer = device();
      return (peer) => {
        let isMute = false;
        return tcp((asked, to) => {
          const right = answer(asked.pdu);
          if (!isMute && right) reply(asked, to, right);
          isMute ||= right !== undefined && isException(right);
        })(peer);
      };
    },
  },
  'never frees a connection, and accepts 8': {
    ...{ on: 'tcp', by: ['reconnect-at-once'] },
    server: () => {
      let connections = 0;
      const answer = device();
      return (peer) => (++connections > 8 ? undefined : tcp(undefined, answer)(peer));
    },
  },
  'never frees a connection, and accepts the ninth but does not answer it': {
    ...{ on: 'tcp', by: ['reconnect-at-once'] },
    server: () => {
      let connections = 0;
      const answer = device();
      return (peer) => (++connections > 8 ? { heard: () => {} } : tcp(undefined, answer)(peer));
    },
  },
  'has one receive buffer for all connections': {
    // What is left in its buffer makes a reply of its own with the next request.
    ...{ on: 'tcp', by: ['half-frame-elsewhere', 'half-frame-and-gone'], too: ['frames'] },
    server: () => {
      // One buffer for all connections.
      let ears: ReturnType<PlantedServer>;
      let to: Peer | undefined;
      const answer = device();
      return (peer) => {
        to = peer;
        ears ??= tcp((asked, _, from) => reply(asked, to as Peer, from(asked.pdu)), answer)(peer);
        return {
          heard: (bytes) => {
            to = peer;
            ears?.heard(bytes);
          },
        };
      };
    },
  },
  'answers only the first request of a segment': {
    ...{ on: 'tcp', by: ['tcp-coalesced'], too: ['tcp-split'] },
    server: () => {
      const answer = device();
      return (peer) => ({
        heard: (bytes) => {
          const asked = FRAMINGS.socket.decode(bytes.slice(0, 6 + (bytes[5] ?? 0)));
          if (asked) reply(asked as Asked, peer, answer(asked.pdu));
        },
      });
    },
  },
  'takes the end of a frame from its function, not its length, like libmodbus': {
    ...{ on: 'tcp', by: ['mbap-length-is-the-frame'], too: ['request-too-long', 'mbap-length'] },
    server: () => {
      const server = tcp();
      return (peer) => {
        const replies: Uint8Array[] = [];
        const ears = server({ ...peer, send: (bytes) => void replies.push(bytes) });
        return {
          heard: (bytes) => {
            let rest = Buffer.from(bytes);
            while (rest.length > 0) {
              const end = (rest[7] ?? 0) >= 1 && (rest[7] ?? 0) <= 6 ? 12 : rest.length;
              const frame = Buffer.from(rest.subarray(0, end));
              if (end === 12) frame.writeUInt16BE(6, 4);
              ears?.heard(frame);
              rest = rest.subarray(end);
            }
            peer.send(Buffer.concat(replies.splice(0)), DELAY_MS);
          },
        };
      };
    },
  },
  'treats each segment as a request': {
    ...{ on: 'tcp', by: ['tcp-split'] },
    server: () => {
      const server = tcp(undefined, device());
      return (peer) => ({ heard: (bytes) => server(peer)?.heard(bytes) });
    },
  },
  'replies twice to every tenth request': frames(['frames', 'stray-bytes'], (asked, peer, right, n) => {
    reply(asked, peer, right);
    if (n % 10 === 0) reply(asked, peer, right, DELAY_MS + 3);
  }),
  'loses a request that arrives within 10 ms of the previous reply': {
    ...{ on: 'tcp', by: ['back-to-back'] },
    server: () => {
      let readyAt = 0;
      const answer = device();
      return tcp((asked, peer) => {
        if (peer.clock.now() < readyAt) return;
        readyAt = peer.clock.now() + DELAY_MS + 10;
        reply(asked, peer, answer(asked.pdu));
      });
    },
  },
  'every 25th read has the value of the next register': {
    ...{ on: 'tcp', by: ['repeat-pair', 'same-value'] },
    server: () => {
      let n = 0;
      const base = device();
      return tcp(undefined, (pdu) =>
        pdu[0] === 3 && word(pdu, 3) <= 2 && word(pdu, 1) < 200 && ++n % 25 === 0
          ? base(Uint8Array.of(3, pdu[1] ?? 0, (pdu[2] ?? 0) + 1, 0, pdu[4] ?? 0))
          : base(pdu),
      );
    },
  },
  'ignores requests for 20 s after a request of length 0': {
    ...{ on: 'tcp', by: ['mbap-length'] },
    server: () => {
      let deafUntil = 0;
      const answer = device();
      return (peer) => {
        const ears = tcp(undefined, answer)(peer);
        return {
          heard: (bytes) => {
            if (peer.clock.now() < deafUntil) return;
            if (bytes.length >= 6 && bytes[4] === 0 && bytes[5] === 0) deafUntil = peer.clock.now() + 20_000;
            ears?.heard(bytes);
          },
        };
      };
    },
  },
  'crashes on a request of one byte': {
    ...{ on: 'tcp', by: ['request-too-short'] },
    server: () => {
      let isDead = false;
      const answer = device();
      return (peer) =>
        isDead
          ? undefined
          : tcp((asked, to) => {
              isDead ||= asked.pdu.length === 1 && asked.pdu[0] === 3;
              if (isDead) to.close();
              else reply(asked, to, answer(asked.pdu));
            })(peer);
    },
  },
};

const serial = (by: readonly string[], server: () => PlantedServer, too: readonly string[] = []): Plant => ({
  ...{ on: 'rtu', by, too, server },
});

export const RTU_PLANTS: Readonly<Record<string, Plant>> = {
  'function 16 writes with any CRC': serial(['rtu-crc-write'], () =>
    rtu({
      decode: (frame) => (frame[1] === 16 && frame.length > 8 ? uncheckedRtu(frame) : checkedRtu(frame)),
    }),
  ),
  'refuses unknown functions before it checks the CRC, like ArduinoModbusSlave#61': serial(
    ['rtu-crc', 'rtu-other-unit-unknown-function'],
    () => {
      const known = [1, 2, 3, 4, 5, 6, 15, 16, 22, 23];
      return rtu({
        decode: (frame) =>
          frame.length > 3 && !known.includes(frame[1] ?? 0) ? uncheckedRtu(frame) : checkedRtu(frame),
      });
    },
  ),
  'compares five bits of the unit': serial(['rtu-other-unit'], () =>
    rtu({
      isOwn: (unit) => (unit & 0x1f) === 1,
      respond: (asked, peer, pdu) => peer.send(rtuFrame(asked.unitId, pdu), DELAY_MS),
    }),
  ),
  'answers every unit as unit 1': serial(['rtu-other-unit'], () =>
    rtu({ isOwn: () => true, respond: (_, peer, pdu) => peer.send(rtuFrame(1, pdu), DELAY_MS) }),
  ),
  'answers broadcasts': serial(['rtu-broadcast-read'], () => {
    const answer = device();
    return rtu({
      answer,
      decode: (frame) => {
        const asked = checkedRtu(frame);
        return asked?.unitId === 0 ? { ...asked, unitId: 1 } : asked;
      },
    });
  }, ['rtu-broadcast-refused', 'rtu-broadcast-write']),
  'does not execute broadcasts': serial(['rtu-broadcast-write'], () =>
    rtu({
      decode: (frame) => {
        const asked = checkedRtu(frame);
        return asked?.unitId === 0 ? undefined : asked;
      },
    }),
  ),
  'replies 1 ms after the last byte': serial(['rtu-reply-silence'], () =>
    rtu({ silenceMs: 0.5, respond: (asked, peer, pdu) => peer.send(rtuFrame(asked.unitId, pdu), 0) }),
  ),
  'pauses for 8 ms in the middle of long replies': serial(['rtu-gaps'], () =>
    rtu({
      respond: (asked, peer, pdu) => {
        const frame = rtuFrame(asked.unitId, pdu);
        if (frame.length < 64) return peer.send(frame, DELAY_MS);
        peer.send(frame.slice(0, 60), DELAY_MS);
        peer.send(frame.slice(60), DELAY_MS + (60 * 11_000) / 19_200 + 8);
      },
    }),
  ),
  'sends a zero byte after each reply': serial(['frames', 'stray-bytes'], () =>
    rtu({
      respond: (asked, peer, pdu) =>
        peer.send(Uint8Array.from([...rtuFrame(asked.unitId, pdu), 0]), DELAY_MS),
    }),
  ),
  'joins bytes across a pause of 400 ms': serial(
    ['rtu-request-with-pause', 'rtu-half-frame', 'rtu-noise'],
    () => (peer) => {
      let rest: number[] = [];
      let callOff = (): void => {};
      const answer = device();
      return {
        heard: (bytes) => {
          callOff();
          rest.push(...bytes);
          const asked = checkedRtu(Uint8Array.from(rest));
          const pdu = asked && [0, 1].includes(asked.unitId) ? answer(asked.pdu) : undefined;
          if (asked?.unitId === 1 && pdu) peer.send(rtuFrame(1, pdu), T35_MS + DELAY_MS);
          if (asked) rest = [];
          else
            callOff = peer.clock.callAfter(400, () => {
              rest = [];
            });
        },
      };
    },
  ),
  'ignores requests for 400 ms after a frame with a wrong CRC': serial(
    ['rtu-noise', 'rtu-half-frame', 'rtu-noise-joined', 'rtu-crc'],
    () => (peer) => {
      let deafUntil = 0;
      return rtu({
        listens: () => peer.clock.now() >= deafUntil,
        decode: (frame) => {
          const asked = checkedRtu(frame);
          if (!asked) deafUntil = peer.clock.now() + 400;
          return asked;
        },
      })(peer);
    },
  ),
  'treats the reply of a neighbour as a request, and ignores requests for 100 ms': serial(
    ['rtu-neighbour-answers'],
    () => (peer) => {
      let deafUntil = 0;
      return rtu({
        listens: () => peer.clock.now() >= deafUntil,
        decode: (frame) => {
          const asked = checkedRtu(frame);
          if (asked && asked.unitId !== 1 && asked.unitId !== 0) deafUntil = peer.clock.now() + 100;
          return asked;
        },
      })(peer);
    },
  ),
  'finds a frame anywhere in the bytes': serial(['rtu-frame-in-frame', 'rtu-noise-joined'], () => (peer) => {
    const answer = device();
    return rtu({
      decode: (frame) => {
        for (let at = 0; at + 8 <= frame.length; at++)
          for (let end = at + 8; end <= Math.min(at + 8, frame.length); end++) {
            const asked = checkedRtu(frame.slice(at, end));
            if (
              asked?.unitId === 1 &&
              [1, 2, 3, 4, 5, 6].includes(asked.pdu[0] ?? 0) &&
              asked.pdu.length === 5
            )
              return asked;
          }
        return checkedRtu(frame);
      },
      answer,
    })(peer);
  }),
  'counts words instead of bytes': serial(['frames'], () =>
    rtu({
      answer: answers((pdu, right) =>
        [3, 4].includes(pdu[0] ?? 0) && !isException(right)
          ? [right[0] ?? 0, (right[1] ?? 0) >> 1, ...right.slice(2)]
          : right,
      )(),
    }),
  ),
  'does not check the CRC of 8-byte frames to its own unit': serial(
    ['rtu-crc'],
    () =>
      rtu({
        decode: (frame) => (frame[0] === 1 && frame.length === 8 ? uncheckedRtu(frame) : checkedRtu(frame)),
      }),
    ['rtu-crc-write'],
  ),
};

/** A faultless device whose map is another one. */
const withTables = (tables: Partial<ReturnType<typeof modelDevice>>): Answer =>
  answering(modelDevice(tables));
/** Refuses these functions with 01, as a device that does not have them. */
const without =
  (codes: readonly number[], base = device()): Answer =>
  (pdu) =>
    codes.includes(pdu[0] ?? 0) ? [(pdu[0] ?? 0) | 0x80, 1] : base(pdu);
/** A device in which only these addresses exist. */
const sparse = (isThere: (address: number) => boolean): Answer => {
  const base = answering(modelDevice({ holding: many(65_536), input: many(65_536) }));
  return (pdu) => {
    const [code = 0] = pdu;
    const quantity = [3, 4, 16].includes(code) ? word(pdu, 3) : 1;
    const isRegister = [3, 4, 6, 16, 22, 23].includes(code);
    const isIn = many(Math.min(quantity, 125)).every((i) => isThere(word(pdu, 1) + i));
    const isQuantity = ![3, 4, 16].includes(code) || (quantity >= 1 && quantity <= 125);
    return isRegister && isQuantity && !isIn ? [code | 0x80, 2] : base(pdu);
  };
};
const delayed = (delay: (n: number) => number, answer = device()): PlantedServer => {
  let n = 0;
  return tcp((asked, peer) => reply(asked, peer, answer(asked.pdu), delay(n++)), answer);
};

/** Faultless servers that few have met. */
export const FAULTLESS: Readonly<
  Record<string, { readonly on: 'tcp' | 'rtu'; readonly server: () => PlantedServer }>
> = {
  plain: { on: 'tcp', server: () => tcp() },
  'that takes 0.7 s': { on: 'tcp', server: () => delayed(() => 700) },
  'that takes 20 to 400 ms': { on: 'tcp', server: () => delayed((n) => 20 + ((n * 7919) % 380)) },
  'with a sparse map': {
    on: 'tcp',
    server: () =>
      tcp(
        undefined,
        sparse((at) => at < 140 || at === 1000 || at === 4096),
      ),
  },
  'with registers at 40000 alone': {
    on: 'tcp',
    server: () =>
      tcp(
        undefined,
        without(
          [1, 2, 5, 15],
          sparse((at) => at >= 40_000 && at < 40_100),
        ),
      ),
  },
  'that is read only': { on: 'tcp', server: () => tcp(undefined, without([5, 6, 15, 16, 22, 23])) },
  'that refuses writes with 02': {
    on: 'tcp',
    server: () => {
      const base = device();
      return tcp(undefined, (pdu) =>
        [5, 6, 15, 16, 22, 23].includes(pdu[0] ?? 0) ? [(pdu[0] ?? 0) | 0x80, 2] : base(pdu),
      );
    },
  },
  'with input registers alone': {
    on: 'tcp',
    server: () => tcp(undefined, without([1, 2, 3, 5, 6, 15, 16, 22, 23])),
  },
  'with coils alone': { on: 'tcp', server: () => tcp(undefined, without([3, 4, 6, 16, 22, 23])) },
  'that is busy at every third request': {
    on: 'tcp',
    server: () => {
      const base = device();
      let n = 0;
      return tcp(undefined, (pdu) => (++n % 3 === 0 ? [(pdu[0] ?? 0) | 0x80, 6] : base(pdu)));
    },
  },
  'that is busy for 1.5 s after a write': {
    on: 'tcp',
    server: () => {
      const base = device();
      let until = 0;
      return tcp((asked, peer) => {
        const [code = 0] = asked.pdu;
        if (peer.clock.now() < until) return reply(asked, peer, [code | 0x80, 6]);
        const right = base(asked.pdu);
        if ([5, 6, 15, 16, 22, 23].includes(code) && right && !isException(right))
          until = peer.clock.now() + 1500;
        reply(asked, peer, right);
      });
    },
  },
  'that answers out of order': {
    on: 'tcp',
    server: () => {
      let n = 0;
      return tcp((asked, peer, answer) => reply(asked, peer, answer(asked.pdu), n++ % 2 === 0 ? 40 : 5));
    },
  },
  'with one connection': {
    on: 'tcp',
    server: () => {
      let isTaken = false;
      const server = tcp();
      return (peer) => {
        if (isTaken) return undefined;
        isTaken = true;
        const ears = server({
          ...peer,
          close: (ms) => {
            isTaken = false;
            peer.close(ms);
          },
        });
        return (
          ears && {
            ...ears,
            gone: () => {
              isTaken = false;
            },
          }
        );
      };
    },
  },
  'that closes a connection after 2 s without a request': {
    on: 'tcp',
    server: () => {
      const server = tcp();
      return (peer) => {
        const ears = server(peer);
        let callOff = peer.clock.callAfter(2000, () => peer.close());
        return {
          heard: (bytes) => {
            callOff();
            callOff = peer.clock.callAfter(2000, () => peer.close());
            ears?.heard(bytes);
          },
          gone: () => callOff(),
        };
      };
    },
  },
  'that answers in three pieces': {
    on: 'tcp',
    server: () => {
      let readyAt = 0;
      return tcp((asked, peer, answer) => {
        const right = answer(asked.pdu);
        if (!right) return;
        const bytes = encoded(asked, right);
        const from = Math.max(DELAY_MS, readyAt - peer.clock.now());
        [bytes.slice(0, 3), bytes.slice(3, 8), bytes.slice(8)].forEach((piece, i) => {
          peer.send(piece, from + 10 * i);
        });
        readyAt = peer.clock.now() + from + 30;
      });
    },
  },
  'that is a gateway: other units with 0B': {
    on: 'tcp',
    server: () => {
      const base = device();
      return tcp((asked, peer) =>
        reply(asked, peer, asked.unitId === 1 ? base(asked.pdu) : [(asked.pdu[0] ?? 0) | 0x80, 11]),
      );
    },
  },
  'whose registers move': {
    on: 'tcp',
    server: () => {
      const model = modelDevice();
      const base = answering(model);
      return tcp(undefined, (pdu) => {
        model.input.forEach((value, i) => {
          set(model.input, i, (value + 3 * i + 1) & 0xffff);
        });
        for (const i of many(model.holding.length))
          if (i % 7 === 3) set(model.holding, i, ((model.holding[i] ?? 0) + 1) & 0xffff);
        return base(pdu);
      });
    },
  },
  'that has every address': {
    on: 'tcp',
    server: () => tcp(undefined, withTables({ holding: many(65_536), input: many(65_536) })),
  },
  'plain on RTU': { on: 'rtu', server: () => rtu() },
  'that takes 300 ms on RTU': {
    on: 'rtu',
    server: () => rtu({ respond: (asked, peer, pdu) => peer.send(rtuFrame(asked.unitId, pdu), 300) }),
  },
  'read only on RTU': { on: 'rtu', server: () => rtu({ answer: without([5, 6, 15, 16, 22, 23]) }) },
  'beside another one whose unit differs in one bit': {
    on: 'rtu',
    server: () => (peer) => {
      const [own, other] = [
        rtu()(peer),
        rtu({ unitId: 129, answer: withTables({ holding: many(300), input: many(300) }) })(peer),
      ];
      return {
        heard: (bytes) => {
          own?.heard(bytes);
          other?.heard(bytes);
        },
      };
    },
  },
};
