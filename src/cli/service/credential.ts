import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readShort } from '../../modbus/transport/read-short.js';

/** systemd takes credentials of 1 MB; a token fits in one header of HTTP. */
const LONGEST_TOKEN = 8192;

/** The credentials of the units, and the variables in whose place they stand. */
const CREDENTIALS = { token: 'MODBUS_SIM_TOKEN', 'mqtt-password': 'MODBUS_SIM_MQTT_PASSWORD' } as const;

/**
 * Adds to the environment the token of REST and the password at the MQTT broker that systemd passed as credentials
 * (`LoadCredential=token:FILE`). No other user and no other process can read a credential. Variables take precedence. An empty
 * credential is ignored.
 * @returns the environment, or an error in one sentence: an unreadable token must not leave REST without a token.
 */
export async function withCredentials(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv | string> {
  const found: Record<string, string> = {};
  for (const [name, variable] of Object.entries(CREDENTIALS)) {
    if (env.CREDENTIALS_DIRECTORY === undefined || env[variable]) continue;
    const file = join(env.CREDENTIALS_DIRECTORY, name);
    if (!existsSync(file)) continue;
    try {
      found[variable] = (await readShort(file, LONGEST_TOKEN)).trim();
    } catch (error) {
      return `the credential ${name} can't be read: ${(error as Error).message}`;
    }
  }
  return { ...env, ...found };
}

/** Where the units of this program have their configurations, and the token that is a credential. */
const SERVICE_DIRECTORY = '/etc/modbus-sim';

/**
 * The file from which the service with this configuration has its token. Only root may read it, so nobody else can find
 * out more than that it is there.
 * @returns undefined for a configuration that is not of a service, and where there is no token
 */
export function tokenOfService(file: string, directory = SERVICE_DIRECTORY): string | undefined {
  const token = join(directory, 'token');
  try {
    const isOfService = realpathSync(dirname(file)) === realpathSync(directory);
    return isOfService && statSync(token).size > 0 ? token : undefined;
  } catch {
    return undefined;
  }
}
