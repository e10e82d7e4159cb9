import { createSecureContext } from 'node:tls';
import { failure, type Result, success } from '../../common/result.js';
import type { MqttDefinition } from '../../document/configuration.js';
import { readShort } from '../../modbus/transport/read-short.js';
import { LARGEST_PEM_BYTES } from '../../modbus/transport/socket/tls.js';
import type { BrokerCredentials } from './broker.js';

/** Reads the PEM files for a broker. @returns them, or a sentence that says what is wrong */
export async function readBrokerFiles(
  files: NonNullable<MqttDefinition['files']>,
): Promise<Result<BrokerCredentials>> {
  const read: Record<string, string> = {};
  for (const [name, path] of Object.entries(files)) {
    try {
      read[name] = await readShort(path, LARGEST_PEM_BYTES);
    } catch (error) {
      return failure(`the file ${path} (${name}) can't be read: ${(error as Error).message}`);
    }
  }
  try {
    createSecureContext(read);
  } catch (error) {
    const names = Object.values(files).join(' and ');
    return failure(`the files ${names} can't be used: ${(error as Error).message}`);
  }
  return success(read);
}
