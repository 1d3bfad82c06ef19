export { SseDecoder, type SseMessage, sseMessages } from "./sse.ts";
export * as chatbot from "./generated/chatbot.ts";
export * as gns3Chat from "./generated/gns3-chat.ts";
