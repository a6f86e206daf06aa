/**
 * Starts the bank for `npm start`, before the agents call it. Does not own: the bank's behaviour
 * (`world.ts`).
 */

import { type DevContext, startDevWorld } from '../world/process.ts';
import { PLACE } from './world.ts';

export default (context: DevContext) => startDevWorld(context, 'BANK_URL', PLACE);
