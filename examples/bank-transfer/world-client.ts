/**
 * The agents' client for this example's outside world. Owns: its address. Does not own: the meaning of its
 * answers (`../world/client.ts`).
 */

import { worldAt } from '../world/client.ts';

export const callWorld = worldAt('BANK_URL', 'http://127.0.0.1:4541');
