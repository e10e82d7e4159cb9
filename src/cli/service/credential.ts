import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { failure, type Result, success } from '../../common/result.js';
import { readShort } from '../../modbus/transport/read-short.js';

/** Longest token, in bytes: it must fit in one HTTP header. systemd accepts credentials of up to 1 MB. */
const LONGEST_TOKEN = 8192;

/** The names of the credentials in the units, and the environment variable that each one replaces. */
const CREDENTIALS = { token: 'MODBUS_SIM_TOKEN', 'mqtt-password': 'MODBUS_SIM_MQTT_PASSWORD' } as const;

/**
 * Adds the REST token and the MQTT broker password, which systemd passes with `LoadCredential=token:FILE`, to
 * the environment. No other user or process can read a credential. Variables take precedence. An empty
 * credential is ignored.
 * @returns the environment, or an error as a sentence: REST must not run without a token because a token
 * could not be read.
 */
export async function withCredentials(env: NodeJS.ProcessEnv): Promise<Result<NodeJS.ProcessEnv>> {
  const found: Record<string, string> = {};
  for (const [name, variable] of Object.entries(CREDENTIALS)) {
    if (env.CREDENTIALS_DIRECTORY === undefined || env[variable]) continue;
    const file = join(env.CREDENTIALS_DIRECTORY, name);
    if (!existsSync(file)) continue;
    try {
      found[variable] = (await readShort(file, LONGEST_TOKEN)).trim();
    } catch (error) {
      return failure(`the credential ${name} can't be read: ${(error as Error).message}`);
    }
  }
  return success({ ...env, ...found });
}

/** Directory of the units' configurations and token. */
const SERVICE_DIRECTORY = '/etc/modbus-sim';

/**
 * The file that contains the token of the service with this configuration. Only root can read the file; other
 * users can only find out that it exists.
 * @returns undefined if the configuration does not belong to a service, or if there is no token
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
