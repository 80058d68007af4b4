// Declares, without definitions, everything in SST 15 that sim/sst uses, so that sim/sst can be
// type-checked if SST is not installed (test_element.py). Names, parameters and types are those of
// SST's public interface. If sim/sst uses more of SST, declare it here.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "event.h"
#include "link.h"

#define CALL_INFO __LINE__, __FILE__, __FUNCTION__
#define COMPONENT_CATEGORY_PROCESSOR 1

// The macros with which an element describes itself. SST_ELI_REGISTER_COMPONENT constructs the
// component as SST does, so that a wrong constructor is an error.
#define SST_ELI_ELEMENT_VERSION(...) {__VA_ARGS__}
#define SST_ELI_REGISTER_COMPONENT(type, library, name, version, description, category)          \
  static SST::ElementInfo eli_info() { return {library, name, version, description, category}; } \
  static SST::Component* eli_create(SST::ComponentId_t id, SST::Params& params) {                \
    return new type(id, params);                                                                 \
  }
#define SST_ELI_DOCUMENT_PARAMS(...) \
  static std::vector<SST::ElementInfoParam> eli_params() { return {__VA_ARGS__}; }
#define SST_ELI_DOCUMENT_PORTS(...) \
  static std::vector<SST::ElementInfoPort> eli_ports() { return {__VA_ARGS__}; }
#define SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS(...) \
  static std::vector<SST::ElementInfoSubComponentSlot> eli_slots() { return {__VA_ARGS__}; }

namespace SST {

using ComponentId_t = uint64_t;

struct ElementInfo {
  const char *library, *name;
  std::vector<int> version;
  const char* description;
  uint32_t category;
};

struct ElementInfoParam {
  const char *name, *description;
  const char* default_value = nullptr;
};

struct ElementInfoPort {
  const char *name, *description;
  std::vector<std::string> events;
};

struct ElementInfoSubComponentSlot {
  const char *name, *description, *superclass;
};

class Params {
 public:
  template <class T>
  T find(const std::string& key) const;
};

class Output {
 public:
  static Output& getDefaultObject();
  void output(const char* format, ...) const __attribute__((format(printf, 2, 3)));
  void fatal(uint32_t line, const char* file, const char* function, int code, const char* format,
             ...) const __attribute__((format(printf, 6, 7)));
};

struct ComponentInfo {
  static const uint64_t SHARE_NONE = 0;
};

class BaseComponent {
 public:
  virtual ~BaseComponent();
  virtual void init(unsigned int phase);
  virtual void setup();
  virtual void complete(unsigned int phase);
  virtual void finish();

  SimTime_t getCurrentSimTime(TimeConverter base) const;

 protected:
  Output& getSimulationOutput() const;
  TimeConverter registerTimeBase(const std::string& base, bool reg_all = true);
  Link* configureLink(const std::string& name, TimeConverter base, Event::HandlerBase* handler);
  Link* configureSelfLink(const std::string& name, TimeConverter base, Event::HandlerBase* handler);

  // SST passes `arguments` to the subcomponent. Their types must be those of T::eli_arguments.
  template <class T, class... Arguments>
    requires std::is_invocable_v<decltype(T::eli_arguments), Arguments...>
  T* loadUserSubComponent(const std::string& slot, uint64_t share_flags, Arguments... arguments);

  void registerAsPrimaryComponent();
  void primaryComponentDoNotEndSim();
  void primaryComponentOKToEndSim();
};

class Component : public BaseComponent {
 public:
  explicit Component(ComponentId_t id);
};

class SubComponent : public BaseComponent {};

}  // namespace SST
