/**
 * The cloud for `npm start`. Owns: that it is there before the agents ask for it. Does not
 * own: what it does (`world.ts`).
 */

import { type DevContext, startDevWorld } from '../world/process.ts';
import { PLACE } from './world.ts';

export default (context: DevContext) => startDevWorld(context, 'CLOUD_URL', PLACE);
