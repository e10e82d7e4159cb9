import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment with the token of REST that systemd handed over as a credential (`LoadCredential=token:FILE`), which
 * no other user and no other process can read. MODBUS_SIM_TOKEN goes before it; an empty credential is none.
 * @returns the environment, or what is wrong, in one sentence: a token that can't be read must not become no token.
 */
export function withCredentials(env: Environment): Environment | string {
  if (env.CREDENTIALS_DIRECTORY === undefined || env.MODBUS_SIM_TOKEN) return env;
  const file = join(env.CREDENTIALS_DIRECTORY, 'token');
  if (!existsSync(file)) return env;
  try {
    return { ...env, MODBUS_SIM_TOKEN: readFileSync(file, 'utf8').trim() };
  } catch (error) {
    return `the credential token can't be read: ${(error as Error).message}`;
  }
}
