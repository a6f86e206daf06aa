/** Starts the identity and the mail service for `npm start`. */

import { type DevContext, startDevWorld } from '../world/process.ts';
import { PLACE } from './world.ts';

export default (context: DevContext) => startDevWorld(context, 'RESET_WORLD_URL', PLACE);
