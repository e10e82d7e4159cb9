import type { Rs485Settings, RtsSwitching } from '../../../../src/modbus/transport/settings.js';

/** RTS high while sending and no delays, but for what the test is about. */
export function switching(of: Partial<RtsSwitching> = {}): RtsSwitching {
  return { rtsOnSend: 'high', delayBeforeSend: 0, delayAfterSend: 0, ...of };
}

export function rs485(mode: Rs485Settings['mode'], of: Partial<Rs485Settings> = {}): Rs485Settings {
  return { ...switching(), mode, ...of };
}
