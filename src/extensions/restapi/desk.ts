import type { ApiContext } from '../../remote/api/desk.js';
import type { ExtensionPart } from '../../remote/api/extension.js';
import { restapiRoutes } from './routes.js';

export function restapiAtDesk(desk: ApiContext): ExtensionPart {
  return { plugins: { '/restapi': restapiRoutes(desk) } };
}
